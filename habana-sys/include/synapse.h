/*
 * The C API of SynapseAI, written from facts about its binary interface: names, values, sizes and signatures.
 * x86-64 System V. Arrays of dimensions have the fastest-changing dimension first. Every function returns a
 * synStatus, and stores results only on synSuccess. Strings end with a zero byte.
 */
#ifndef HABANA_SYS_SYNAPSE_H
#define HABANA_SYS_SYNAPSE_H

#include "synapse/configuration.h"
#include "synapse/device.h"
#include "synapse/event.h"
#include "synapse/graph.h"
#include "synapse/kernel_params.h"
#include "synapse/launch.h"
#include "synapse/memory.h"
#include "synapse/node.h"
#include "synapse/node_params.h"
#include "synapse/profiler.h"
#include "synapse/recipe.h"
#include "synapse/section.h"
#include "synapse/status.h"
#include "synapse/stream.h"
#include "synapse/tensor.h"
#include "synapse/types.h"

#endif
