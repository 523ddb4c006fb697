/* Recipes: compiled graphs, and what is known of their tensors. */
#ifndef HABANA_SYS_SYNAPSE_RECIPE_H
#define HABANA_SYS_SYNAPSE_RECIPE_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What can be asked of a recipe; every answer is one 64-bit number, sizes in bytes. */
typedef enum synRecipeAttribute {
    RECIPE_ATTRIBUTE_WORKSPACE_SIZE = 0,
    RECIPE_ATTRIBUTE_NUM_PERSISTENT_TENSORS = 1,
    RECIPE_ATTRIBUTE_HOST_MEM_SIZE = 2,
    RECIPE_ATTRIBUTE_NUM_EXTERNAL_TENSORS = 3,
    RECIPE_ATTRIBUTE_PERSISTENT_TENSORS_SIZE = 4,
    RECIPE_ATTRIBUTE_CONST_SECTIONS_SIZE = 5,
    RECIPE_ATTRIBUTE_DEVICE_MEMORY_SIZE = 6,
    RECIPE_ATTRIBUTE_MAX = 7,
} synRecipeAttribute;

/** A persistent tensor of a recipe, asked for by name. */
typedef struct TensorMetadataInfo {
    const char *tensorName; /**< set by the caller */
    uint32_t elementType; /**< a synDataType */
    double zp;
    double scale;
    uint32_t dimensions;
    TSize dimensionsSize[HABANA_DIM_MAX];
    uint64_t roiSizeInBytes;
    uint16_t batchSize;
    uint8_t isInput;
    char layout[20];
    uint32_t sectionId;
    uint64_t offsetInSection; /**< bytes */
} TensorMetadataInfo;

/** Same as TensorMetadataInfo. */
typedef struct TensorMetadataInfoExt {
    const char *tensorName;
    uint32_t elementType;
    double zp;
    double scale;
    uint32_t dimensions;
    uint64_t dimensionsSize[HABANA_DIM_MAX];
    uint64_t roiSizeInBytes;
    uint16_t batchSize;
    uint8_t isInput;
    char layout[20];
    uint32_t sectionId;
    uint64_t offsetInSection;
} TensorMetadataInfoExt;

/** A tensor that a launch of a recipe takes; the caller fills in tensorId. */
typedef struct synRetrievedLaunchTensorInfo {
    char tensorName[ENQUEUE_TENSOR_NAME_MAX_SIZE];
    uint64_t tensorId;
    synTensorType tensorType;
    synDataType tensorDataType;
    uint32_t tensorDims;
    TSize tensorMaxSize[HABANA_DIM_MAX];
    TSize tensorMinSize[HABANA_DIM_MAX];
    uint8_t tensorPermutation[HABANA_DIM_MAX];
    synSectionId tensorSectionId;
    uint64_t tensorOffsetInSection; /**< bytes */
    uint8_t isInput; /**< 1 for an input, 0 for an output */
    uint32_t reserved[10];
} synRetrievedLaunchTensorInfo;

/** Same as synRetrievedLaunchTensorInfo. */
typedef struct synRetrievedLaunchTensorInfoExt {
    char tensorName[ENQUEUE_TENSOR_NAME_MAX_SIZE];
    uint64_t tensorId;
    synTensorType tensorType;
    synDataType tensorDataType;
    uint32_t tensorDims;
    TSize tensorMaxSize[HABANA_DIM_MAX];
    TSize tensorMinSize[HABANA_DIM_MAX];
    uint8_t tensorPermutation[HABANA_DIM_MAX];
    synSectionId tensorSectionId;
    uint64_t tensorOffsetInSection;
    uint8_t isInput;
    uint32_t reserved[10];
} synRetrievedLaunchTensorInfoExt;

/** Destroys a recipe. */
synStatus synRecipeDestroy(synRecipeHandle recipeHandle);

/** Writes a recipe to a file. */
synStatus synRecipeSerialize(const synRecipeHandle recipeHandle, const char *recipeFileName);

/** Reads a recipe from a file that the same release wrote; the caller then owns it. */
synStatus synRecipeDeSerialize(synRecipeHandle *pRecipeHandle, const char *recipeFileName);

/** Answers querySize questions about a recipe: retVal takes one number for each entry of recipeAttr. */
synStatus synRecipeGetAttribute(
    uint64_t *retVal, const synRecipeAttribute *recipeAttr, const unsigned int querySize,
    const synRecipeHandle recipeHandle);

/** Stores a property of a section in a recipe, addresses as integers. */
synStatus synRecipeSectionGetProp(
    const synRecipeHandle pRecipeHandle, const synSectionId sectionId, const synSectionProp prop,
    uint64_t *propertyPtr);

/** Frees the host copies of constant sections, once they are on the device. */
synStatus synRecipeSectionHostBuffersClear(
    synRecipeHandle recipeHandle, const synSectionId *sectionIds, uint64_t numOfSections);

/** Stores how many bytes of device memory a launch needs as its workspace. */
synStatus synWorkspaceGetSize(uint64_t *pWorkspaceSize, const synRecipeHandle recipeHandle);

/** Stores how many tensors a launch takes. */
synStatus synTensorRetrieveLaunchAmount(const synRecipeHandle pRecipeHandle, uint32_t *numOfTensors);

/** Fills in the ids of the tensors that a launch takes. */
synStatus synTensorRetrieveLaunchIds(
    const synRecipeHandle pRecipeHandle, uint64_t *tensorsIds, const uint32_t numOfTensors);

/** Fills in the description of each tensor; tensorId says which. */
synStatus synTensorRetrieveLaunchInfoById(
    const synRecipeHandle pRecipeHandle, const uint32_t numOfTensors,
    synRetrievedLaunchTensorInfo *tensorsLaunchInfo);

/** Same as synTensorRetrieveLaunchInfoById. */
synStatus synTensorRetrieveLaunchInfoByIdExt(
    const synRecipeHandle pRecipeHandle, const uint32_t numOfTensors,
    synRetrievedLaunchTensorInfoExt *tensorsLaunchInfoExt);

/** Fills in every description that a recipe has of one tensor; numLaunchInfos is their number. */
synStatus synTensorRetrieveMultiLaunchInfosById(
    const synRecipeHandle pRecipeHandle, const uint64_t tensorId,
    synRetrievedLaunchTensorInfo *tensorLaunchInfo, uint32_t *numLaunchInfos);

/** Fills in the description of each persistent tensor whose name is set. */
synStatus synTensorRetrieveInfosByName(
    const synRecipeHandle pRecipeHandle, const uint32_t numOfTensors,
    TensorMetadataInfo *tensorsMetadataInfo);

/** Same as synTensorRetrieveInfosByName. */
synStatus synTensorRetrieveInfosByNameExt(
    const synRecipeHandle pRecipeHandle, const uint32_t numOfTensors,
    TensorMetadataInfoExt *tensorsMetadataInfoExt);

/** Stores the number of persistent tensors. */
synStatus synTensorRetrievePersistentAmount(const synRecipeHandle pRecipeHandle, uint32_t *numOfTensors);

/** Fills in the names of the persistent tensors. */
synStatus synTensorRetrieveNames(
    const synRecipeHandle pRecipeHandle, char tensorsName[][ENQUEUE_TENSOR_NAME_MAX_SIZE],
    const uint32_t numOfTensors);

/** Fills in the launch ids of tensors by name; a name unknown to the recipe gets TENSOR_INVALID_ID. */
synStatus synTensorRetrieveIds(
    const synRecipeHandle pRecipeHandle, const char **tensorNames, uint64_t *tensorIds,
    const uint32_t numOfTensors);

/** Fills in the ids of the external tensors in the order in which a launch finishes them. */
synStatus synTensorExtExtractExecutionOrder(
    const synRecipeHandle recipeHandle, uint32_t numOfExternalTensors, uint64_t *tensorIds);

#ifdef __cplusplus
}
#endif

#endif
