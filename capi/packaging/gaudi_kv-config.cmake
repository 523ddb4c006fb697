# gaudi_kv::gaudi_kv, the shared library, and gaudi_kv::static where the static one is installed. Everything is found
# from where this file lies: share/cmake/gaudi_kv below the prefix.

# Below the prefix, or absolute; install.sh writes where it put them.
set(_gaudi_kv_libdir "lib")
set(_gaudi_kv_includedir "include")

get_filename_component(_gaudi_kv_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
get_filename_component(_gaudi_kv_libdir "${_gaudi_kv_libdir}" ABSOLUTE BASE_DIR "${_gaudi_kv_prefix}")
get_filename_component(_gaudi_kv_includedir "${_gaudi_kv_includedir}" ABSOLUTE BASE_DIR "${_gaudi_kv_prefix}")
set(_gaudi_kv_places HINTS "${_gaudi_kv_libdir}" "${_gaudi_kv_prefix}" PATH_SUFFIXES lib lib64 "lib/${CMAKE_LIBRARY_ARCHITECTURE}"
    NO_DEFAULT_PATH NO_CACHE)
find_path(_gaudi_kv_include gaudi_kv.h HINTS "${_gaudi_kv_includedir}" NO_DEFAULT_PATH NO_CACHE)
find_library(_gaudi_kv_shared NAMES libgaudi_kv.so ${_gaudi_kv_places})
find_library(_gaudi_kv_static NAMES libgaudi_kv.a ${_gaudi_kv_places})

if(NOT _gaudi_kv_include OR NOT _gaudi_kv_shared)
    set(gaudi_kv_FOUND FALSE)
    set(gaudi_kv_NOT_FOUND_MESSAGE "gaudi_kv.h or libgaudi_kv.so is missing: looked in ${_gaudi_kv_includedir}, ${_gaudi_kv_libdir} and below ${_gaudi_kv_prefix}")
else()
    if(NOT TARGET gaudi_kv::gaudi_kv)
        add_library(gaudi_kv::gaudi_kv SHARED IMPORTED)
        set_target_properties(gaudi_kv::gaudi_kv PROPERTIES
            IMPORTED_LOCATION "${_gaudi_kv_shared}"
            INTERFACE_INCLUDE_DIRECTORIES "${_gaudi_kv_include}")
    endif()
    if(_gaudi_kv_static AND NOT TARGET gaudi_kv::static)
        add_library(gaudi_kv::static STATIC IMPORTED)
        set_target_properties(gaudi_kv::static PROPERTIES
            IMPORTED_LOCATION "${_gaudi_kv_static}"
            INTERFACE_INCLUDE_DIRECTORIES "${_gaudi_kv_include}"
            INTERFACE_LINK_LIBRARIES "gcc_s;util;rt;pthread;m;dl;c")
    endif()
endif()

unset(_gaudi_kv_prefix)
unset(_gaudi_kv_libdir)
unset(_gaudi_kv_includedir)
unset(_gaudi_kv_places)
unset(_gaudi_kv_include)
unset(_gaudi_kv_shared)
unset(_gaudi_kv_static)
