/* Uses every function of the library, and compares with values that are known otherwise. The argument is the folder
 * with the models. */

#include "parts.h"

int main(int argc, char **argv) {
    CHECK(argc == 2);
    versions_and_errors();
    devices();
    models(argv[1]);
    caches();
    blocks();
    layers();
    latents();
    codecs();
    numbers();
    puts("fine");
    return 0;
}
