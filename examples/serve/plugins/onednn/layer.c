// Layer: one oneDNN primitive with the conversions it needs, made once for a shape and run by any
// number of threads at a time.
//
// Layer:   example (uses oneDNN's C API)
// Threads: any; a layer does not change once it is made
// SPDX-License-Identifier: MIT

#include "layer.h"

#include <stdlib.h>

#include <keyway/call.h>

#include "workspace.h"

// libgomp's, which Debian's oneDNN is built with. Declared here, since a compiler other than the
// one that libgomp belongs to may not have its header.
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int count);

// A primitive, and what it wants to know of its memory.
typedef struct step {
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    const dnnl_memory_desc_t *scratchpad; // borrowed from `desc`
} step;

struct onednn_layer {
    step main;
    step source_reorder; // all zeros: the primitive takes what comes
    step result_reorder; // all zeros: it gives what is wanted
    dnnl_memory_desc_t plain_source;
    dnnl_memory_desc_t plain_weight;
    dnnl_memory_desc_t plain_result;
    const dnnl_memory_desc_t *source; // of the primitive: borrowed from its description
    const dnnl_memory_desc_t *weight;
    const dnnl_memory_desc_t *bias;
    const dnnl_memory_desc_t *result;
    size_t weight_bytes; // 0: it takes the weight as it comes
    // One allocation serves a run: the scratchpad of the step that needs most, and the tensors
    // between the steps.
    size_t source_offset;
    size_t result_offset;
    size_t run_bytes;
};

// guard: immutable, between start and stop.
static dnnl_engine_t engine;
static dnnl_primitive_attr_t attributes;

// See Note [One thread a run].
static int become_single(void)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    return before;
}

static kw_status fail(dnnl_status_t status, const char *what)
{
    if (status == dnnl_out_of_memory) {
        return kw_fail(KW_NO_MEMORY, "oneDNN has no memory for %s", what);
    }
    if (status == dnnl_unimplemented) {
        return kw_fail(KW_NOT_SUPPORTED, "oneDNN does not offer %s of this shape", what);
    }
    return kw_fail(KW_KERNEL_FAILED, "oneDNN fails with status %d at %s", (int)status, what);
}

// What oneDNN is told once for the process, which has it for this plugin alone.
static void say_to_process(void)
{
    // The same code on every machine that has AVX2, so that answers depend on the machine as little
    // as can be. On the layers of this network it is as fast as the code for AVX-512, which takes
    // longer to make. After the first primitive this is refused, and the earlier word stands.
    (void)dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    // oneDNN keeps primitives of its own accord, for ever. Layers are kept already, as long as the
    // plugin is loaded; what they take goes with it.
    (void)dnnl_set_primitive_cache_capacity(0);
}

kw_status onednn_start(kw_error *err)
{
    say_to_process();
    dnnl_status_t status = dnnl_engine_create(&engine, dnnl_cpu, 0);
    if (status == dnnl_success) {
        status = dnnl_primitive_attr_create(&attributes);
    }
    if (status == dnnl_success) {
        status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    }
    if (status != dnnl_success) {
        onednn_stop();
        return kw_error_set(err, KW_NOT_SUPPORTED, "oneDNN makes no engine: status %d",
                            (int)status);
    }
    return KW_OK;
}

void onednn_stop(void)
{
    onednn_workspaces_end();
    if (attributes != NULL) {
        (void)dnnl_primitive_attr_destroy(attributes);
        attributes = NULL;
    }
    if (engine != NULL) {
        (void)dnnl_engine_destroy(engine);
        engine = NULL;
    }
}

static void step_fini(step *ended)
{
    if (ended->primitive != NULL) {
        (void)dnnl_primitive_destroy(ended->primitive);
    }
    if (ended->desc != NULL) {
        (void)dnnl_primitive_desc_destroy(ended->desc);
    }
}

// Goes on from a description that was made with `status`.
static dnnl_status_t step_init(step *out, dnnl_status_t status)
{
    if (status != dnnl_success) {
        return status;
    }
    out->scratchpad = dnnl_primitive_desc_query_md(out->desc, dnnl_query_scratchpad_md, 0);
    return dnnl_primitive_create(&out->primitive, out->desc);
}

static dnnl_status_t init_reorder(step *out, const dnnl_memory_desc_t *from,
                                  const dnnl_memory_desc_t *to)
{
    if (dnnl_memory_desc_equal(from, to) != 0) {
        return dnnl_success;
    }
    return step_init(
        out, dnnl_reorder_primitive_desc_create(&out->desc, from, engine, to, engine, attributes));
}

static size_t scratch_bytes(const step *of)
{
    return of->scratchpad != NULL ? dnnl_memory_desc_get_size(of->scratchpad) : 0;
}

static void plan_memory(onednn_layer *layer)
{
    size_t most = scratch_bytes(&layer->main);
    const size_t others[] = {scratch_bytes(&layer->source_reorder),
                             scratch_bytes(&layer->result_reorder)};
    most = others[0] > most ? others[0] : most;
    most = others[1] > most ? others[1] : most;
    layer->source_offset = onednn_aligned(most);
    layer->result_offset = layer->source_offset;
    if (layer->source_reorder.primitive != NULL) {
        layer->result_offset += onednn_aligned(dnnl_memory_desc_get_size(layer->source));
    }
    layer->run_bytes = layer->result_offset;
    if (layer->result_reorder.primitive != NULL) {
        layer->run_bytes += onednn_aligned(dnnl_memory_desc_get_size(layer->result));
    }
}

static dnnl_status_t init(onednn_layer *layer, const onednn_recipe *recipe)
{
    step *main = &layer->main;
    dnnl_status_t status = step_init(
        main, dnnl_primitive_desc_create(&main->desc, recipe->operation, attributes, engine, NULL));
    if (status != dnnl_success) {
        return status;
    }
    layer->plain_source = *recipe->source;
    layer->plain_result = *recipe->result;
    layer->source = dnnl_primitive_desc_query_md(main->desc, dnnl_query_src_md, 0);
    layer->result = dnnl_primitive_desc_query_md(main->desc, dnnl_query_dst_md, 0);
    if (recipe->weight != NULL) {
        layer->plain_weight = *recipe->weight;
        layer->weight = dnnl_primitive_desc_query_md(main->desc, dnnl_query_weights_md, 0);
        layer->bias = dnnl_primitive_desc_query_md(main->desc, dnnl_query_weights_md, 1);
        if (dnnl_memory_desc_equal(layer->weight, recipe->weight) == 0) {
            layer->weight_bytes = dnnl_memory_desc_get_size(layer->weight);
        }
    }
    status = init_reorder(&layer->source_reorder, recipe->source, layer->source);
    if (status == dnnl_success) {
        status = init_reorder(&layer->result_reorder, layer->result, recipe->result);
    }
    plan_memory(layer);
    return status;
}

kw_status onednn_layer_create(const onednn_recipe *recipe, onednn_layer **out_layer)
{
    onednn_layer *layer = calloc(1, sizeof *layer);
    if (layer == NULL) {
        return kw_fail(KW_NO_MEMORY, "there is no memory for a layer");
    }
    const int threads = become_single();
    const dnnl_status_t status = init(layer, recipe);
    omp_set_num_threads(threads);
    if (status != dnnl_success) {
        onednn_layer_destroy(layer);
        return fail(status, "a layer");
    }
    *out_layer = layer;
    return KW_OK;
}

void onednn_layer_destroy(onednn_layer *take_layer)
{
    if (take_layer != NULL) {
        step_fini(&take_layer->result_reorder);
        step_fini(&take_layer->source_reorder);
        step_fini(&take_layer->main);
        free(take_layer);
    }
}

const dnnl_memory_desc_t *onednn_layer_weight(const onednn_layer *layer)
{
    return layer->weight;
}

size_t onednn_layer_weight_bytes(const onednn_layer *layer)
{
    return layer->weight_bytes;
}

// One argument of a primitive: which one, how it lies, and where.
typedef struct argument {
    int index;
    const dnnl_memory_desc_t *desc;
    const void *data;
} argument;

enum {
    ARGUMENTS_MAX = 5
};

// Runs a step in a stream. Arguments without data are left out.
static dnnl_status_t run_step(const step *of, dnnl_stream_t stream, const argument *arguments,
                              size_t count)
{
    dnnl_exec_arg_t made[ARGUMENTS_MAX];
    int made_count = 0;
    dnnl_status_t status = dnnl_success;
    for (size_t i = 0; i < count && status == dnnl_success; i++) {
        if (arguments[i].data == NULL) {
            continue;
        }
        made[made_count].arg = arguments[i].index;
        // oneDNN takes what it only reads as it takes what it writes.
        status = dnnl_memory_create(&made[made_count].memory, arguments[i].desc, engine,
                                    (void *)(uintptr_t)arguments[i].data);
        made_count += status == dnnl_success ? 1 : 0;
    }
    if (status == dnnl_success) {
        status = dnnl_primitive_execute(of->primitive, stream, made_count, made);
    }
    const dnnl_status_t waited = dnnl_stream_wait(stream);
    for (int i = 0; i < made_count; i++) {
        (void)dnnl_memory_destroy(made[i].memory);
    }
    return status == dnnl_success ? waited : status;
}

// NULL where the step needs none: then the argument is left out.
static void *scratch_of(const step *of, void *memory)
{
    return scratch_bytes(of) != 0 ? memory : NULL;
}

static dnnl_status_t run_reorder(const step *of, dnnl_stream_t stream,
                                 const dnnl_memory_desc_t *from_desc, const void *from,
                                 const dnnl_memory_desc_t *to_desc, void *to, void *scratch)
{
    const argument arguments[] = {
        {DNNL_ARG_FROM, from_desc, from},
        {DNNL_ARG_TO, to_desc, to},
        {DNNL_ARG_SCRATCHPAD, of->scratchpad, scratch_of(of, scratch)},
    };
    return run_step(of, stream, arguments, sizeof arguments / sizeof arguments[0]);
}

static dnnl_status_t run_steps(const onednn_layer *layer, dnnl_stream_t stream,
                               const onednn_values *values, unsigned char *memory)
{
    const void *source = values->source;
    void *result = values->result;
    dnnl_status_t status = dnnl_success;
    if (layer->source_reorder.primitive != NULL) {
        source = memory + layer->source_offset;
        status = run_reorder(&layer->source_reorder, stream, &layer->plain_source, values->source,
                             layer->source, memory + layer->source_offset, memory);
    }
    if (layer->result_reorder.primitive != NULL) {
        result = memory + layer->result_offset;
    }
    const argument arguments[ARGUMENTS_MAX] = {
        {DNNL_ARG_SRC, layer->source, source},
        {DNNL_ARG_WEIGHTS, layer->weight, values->weight},
        {DNNL_ARG_BIAS, layer->bias, values->bias},
        {DNNL_ARG_DST, layer->result, result},
        {DNNL_ARG_SCRATCHPAD, layer->main.scratchpad, scratch_of(&layer->main, memory)},
    };
    if (status == dnnl_success) {
        status = run_step(&layer->main, stream, arguments, ARGUMENTS_MAX);
    }
    if (status == dnnl_success && layer->result_reorder.primitive != NULL) {
        status = run_reorder(&layer->result_reorder, stream, layer->result, result,
                             &layer->plain_result, values->result, memory);
    }
    return status;
}

kw_status onednn_layer_run(const onednn_layer *layer, const onednn_values *values)
{
    const onednn_workspace workspace = onednn_workspace_take(layer->run_bytes);
    if (workspace.memory == NULL && layer->run_bytes != 0) {
        return kw_fail(KW_NO_MEMORY, "there are no %zu bytes for a run", layer->run_bytes);
    }
    const int threads = become_single();
    dnnl_stream_t stream = NULL;
    dnnl_status_t status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    if (status == dnnl_success) {
        status = run_steps(layer, stream, values, workspace.memory);
        (void)dnnl_stream_destroy(stream);
    }
    omp_set_num_threads(threads);
    onednn_workspace_give(workspace);
    return status == dnnl_success ? KW_OK : fail(status, "a run");
}

kw_status onednn_layer_weight_pack(const onednn_layer *layer, const float *weight, void *packed)
{
    const int threads = become_single();
    step reorder = {.desc = NULL};
    dnnl_status_t status = init_reorder(&reorder, &layer->plain_weight, layer->weight);
    onednn_workspace workspace = {NULL, 0};
    if (status == dnnl_success) {
        workspace = onednn_workspace_take(scratch_bytes(&reorder));
        status = workspace.memory != NULL || scratch_bytes(&reorder) == 0 ? dnnl_success
                                                                          : dnnl_out_of_memory;
    }
    dnnl_stream_t stream = NULL;
    if (status == dnnl_success) {
        status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    }
    if (status == dnnl_success) {
        status = run_reorder(&reorder, stream, &layer->plain_weight, weight, layer->weight, packed,
                             workspace.memory);
        (void)dnnl_stream_destroy(stream);
    }
    onednn_workspace_give(workspace);
    step_fini(&reorder);
    omp_set_num_threads(threads);
    return status == dnnl_success ? KW_OK : fail(status, "packing a weight");
}
