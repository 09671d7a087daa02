// Kernels: the network's operators in OpenCL C 1.2, one work item for each element of the result.
//
// Layer:   example (compiled by the device's driver, when the device is opened)
// Threads: work items do not depend on each other
// SPDX-License-Identifier: MIT
//
// Each kernel has its tensors first, as a buffer and the index of the first element in it, then whole
// numbers. Work items beyond the last element do nothing.

#define TENSOR(name) global const float *name, ulong name##_first
#define RESULT(name) global float *name, ulong name##_first

// bias may be absent, and is NULL then.
kernel void conv2d(TENSOR(x), TENSOR(weight), TENSOR(bias), RESULT(y), int batch, int in_channels,
                   int height, int width, int out_channels, int kernel_height, int kernel_width,
                   int padding, int out_height, int out_width)
{
    const int index = (int)get_global_id(0);
    const int column = index % out_width;
    const int row = index / out_width % out_height;
    const int channel = index / out_width / out_height % out_channels;
    const int image = index / out_width / out_height / out_channels;
    if (image >= batch) {
        return;
    }
    float sum = bias != 0 ? bias[bias_first + channel] : 0.0f;
    for (int c = 0; c < in_channels; c++) {
        global const float *plane = x + x_first + (ulong)(image * in_channels + c) * height * width;
        global const float *factors =
            weight + weight_first +
            (ulong)(channel * in_channels + c) * kernel_height * kernel_width;
        for (int p = 0; p < kernel_height; p++) {
            const int i = row + p - padding;
            for (int q = 0; q < kernel_width; q++) {
                const int j = column + q - padding;
                if (i >= 0 && i < height && j >= 0 && j < width) {
                    sum += plane[i * width + j] * factors[p * kernel_width + q];
                }
            }
        }
    }
    y[y_first + index] = sum;
}

kernel void linear(TENSOR(x), TENSOR(weight), TENSOR(bias), RESULT(y), int rows, int columns,
                   int out_columns)
{
    const int index = (int)get_global_id(0);
    const int row = index / out_columns;
    const int out = index % out_columns;
    if (row >= rows) {
        return;
    }
    global const float *values = x + x_first + (ulong)row * columns;
    global const float *factors = weight + weight_first + (ulong)out * columns;
    float sum = bias != 0 ? bias[bias_first + out] : 0.0f;
    for (int i = 0; i < columns; i++) {
        sum += values[i] * factors[i];
    }
    y[y_first + index] = sum;
}

// A NaN stays one.
kernel void relu(TENSOR(x), RESULT(y), int count)
{
    const int index = (int)get_global_id(0);
    if (index < count) {
        const float value = x[x_first + index];
        y[y_first + index] = value < 0.0f ? 0.0f : value;
    }
}

// A window with a NaN gives NaN.
kernel void max_pool2d(TENSOR(x), RESULT(y), int planes, int height, int width, int size,
                       int out_height, int out_width)
{
    const int index = (int)get_global_id(0);
    const int column = index % out_width;
    const int row = index / out_width % out_height;
    const int plane = index / out_width / out_height;
    if (plane >= planes) {
        return;
    }
    global const float *corner =
        x + x_first + ((ulong)plane * height + row * size) * width + column * size;
    float largest = corner[0];
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            const float value = corner[i * width + j];
            largest = value > largest || isnan(value) ? value : largest;
        }
    }
    y[y_first + index] = largest;
}

// One work item for each row. The largest is subtracted first, so that nothing overflows.
kernel void softmax(TENSOR(x), RESULT(y), int rows, int columns)
{
    const int row = (int)get_global_id(0);
    if (row >= rows) {
        return;
    }
    global const float *values = x + x_first + (ulong)row * columns;
    global float *shares = y + y_first + (ulong)row * columns;
    float largest = values[0];
    for (int i = 1; i < columns; i++) {
        largest = fmax(largest, values[i]);
    }
    float sum = 0.0f;
    for (int i = 0; i < columns; i++) {
        shares[i] = exp(values[i] - largest);
        sum += shares[i];
    }
    for (int i = 0; i < columns; i++) {
        shares[i] /= sum;
    }
}
