// Views of the reference tensor beside libtorch's: the same chain of view functions, with valid
// arguments and others, must give the same sizes, strides, offset and flags, or fail on both sides.
//
//     differential_view [--chains N] [--seed N] [--fault]
//
// --fault takes a step of a slice for one more on one side, which has to be noticed.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <ATen/ATen.h>
#include <c10/util/Logging.h>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include <keyway/tensor_view.h>

namespace {

using numbers = std::vector<int64_t>;

struct settings {
    uint64_t chains = 20000;
    uint64_t seed = 1;
    bool fault = false;
};

constexpr int links = 8;
constexpr int64_t elements = 4096;

// A tensor on both sides, and how it came to be.
class pair {
  public:
    pair(uint64_t seed, bool fault)
        : random_(seed), fault_(fault), theirs_(at::empty({elements}, at::kInt))
    {
        kw_tensor_options options = {};
        options.struct_size = sizeof options;
        options.sizes = &elements;
        options.dim = 1;
        options.dtype = KW_DTYPE_INT32;
        options.device = {KW_DEVICE_CPU, -1};
        if (kw_tensor_create(&options, &ours_, nullptr) != KW_OK) {
            std::abort();
        }
    }
    pair(const pair &) = delete;
    pair &operator=(const pair &) = delete;
    ~pair()
    {
        kw_tensor_release(ours_);
    }

    bool link();
    bool is_equal();
    const std::string &story() const
    {
        return story_;
    }
    static uint64_t both_failed;
    static uint64_t compared;

  private:
    int64_t below(int64_t limit)
    {
        return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
    }
    int64_t dim() const
    {
        return theirs_.dim();
    }
    // A dimension from either end, sometimes beyond.
    int64_t any_dim(int64_t count)
    {
        return below(2 * count + 2) - count - below(2);
    }
    int64_t any_index()
    {
        return below(14) - 7;
    }
    numbers any_sizes();
    numbers split_sizes();

    // Runs both; false if one fails and the other does not.
    template <typename Ours, typename Theirs>
    bool both(const char *verb, const numbers &arguments, Ours ours, Theirs theirs);

    bool link_sizes(int64_t which);
    bool link_dims(int64_t which);

    std::mt19937_64 random_;
    bool fault_;
    at::Tensor theirs_;
    kw_tensor *ours_ = nullptr;
    std::string story_;
};

uint64_t pair::both_failed = 0;
uint64_t pair::compared = 0;

kw_int_list list(const numbers &from)
{
    return {from.data(), from.size()};
}

template <typename Ours, typename Theirs>
bool pair::both(const char *verb, const numbers &arguments, Ours ours, Theirs theirs)
{
    story_ += std::string(" ") + verb + "(";
    for (int64_t argument : arguments) {
        story_ += std::to_string(argument) + ",";
    }
    story_ += ")";
    kw_tensor *made = nullptr;
    kw_error err = KW_ERROR_INIT;
    kw_status status = ours(&made, &err);
    at::Tensor result;
    bool has_failed = false;
    try {
        result = theirs();
    } catch (const std::exception &) {
        has_failed = true;
    }
    if (has_failed != (status != KW_OK)) {
        story_ += status == KW_OK ? " only theirs fails" : std::string(" only ours: ") + err.text;
        return false;
    }
    if (has_failed) {
        both_failed++;
        return true;
    }
    kw_tensor_release(ours_);
    ours_ = made;
    theirs_ = result;
    return true;
}

numbers pair::any_sizes()
{
    numbers sizes(static_cast<size_t>(below(5)));
    for (int64_t &size : sizes) {
        size = below(9) == 0 ? 0 : 1 + below(4);
    }
    return sizes;
}

// Sizes that hold the elements, mostly; one may be left open.
numbers pair::split_sizes()
{
    numbers sizes;
    int64_t count = theirs_.numel();
    while (sizes.size() < 4 && below(4) > 0) {
        int64_t size = below(10) == 0 ? below(3) : 1 + below(4);
        if (size != 0 && count % size == 0) {
            count /= size;
        } else if (below(6) > 0) {
            continue;
        }
        sizes.push_back(size);
    }
    sizes.push_back(below(3) == 0 ? -1 : count);
    if (below(2) == 0) {
        sizes.insert(sizes.begin(), 1);
    }
    return sizes;
}

bool pair::link_sizes(int64_t which)
{
    switch (which) {
    case 0: {
        numbers sizes = split_sizes();
        return both(
            "view", sizes,
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_view(ours_, list(sizes), out, err);
            },
            [&] { return theirs_.view(sizes); });
    }
    case 1: {
        numbers sizes = split_sizes();
        return both(
            "reshape", sizes,
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_reshape(ours_, list(sizes), out, err);
            },
            [&] { return theirs_.reshape(sizes); });
    }
    case 2: {
        numbers sizes = theirs_.sizes().vec();
        for (int64_t &size : sizes) {
            size = below(3) == 0 ? -1 : size == 1 || below(12) == 0 ? below(4) : size;
        }
        numbers front = below(3) == 0 ? any_sizes() : numbers();
        sizes.insert(sizes.begin(), front.begin(), front.end());
        return both(
            "expand", sizes,
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_expand(ours_, list(sizes), out, err);
            },
            [&] { return theirs_.expand(sizes); });
    }
    case 3: {
        numbers sizes = any_sizes();
        numbers strides(sizes.size());
        for (int64_t &stride : strides) {
            stride = below(40);
        }
        int64_t offset = below(elements + 100);
        return both(
            "as_strided", sizes,
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_as_strided(ours_, list(sizes), list(strides), offset, out, err);
            },
            [&] { return theirs_.as_strided(sizes, strides, offset); });
    }
    default: {
        static const c10::MemoryFormat formats[] = {
            c10::MemoryFormat::Contiguous, c10::MemoryFormat::Preserve,
            c10::MemoryFormat::ChannelsLast, c10::MemoryFormat::ChannelsLast3d};
        int64_t format = below(4);
        return both(
            "clone", {format},
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_clone(ours_, static_cast<uint8_t>(format), out, err);
            },
            [&] { return theirs_.clone(formats[format]); });
    }
    }
}

bool pair::link_dims(int64_t which)
{
    int64_t at = any_dim(dim());
    int64_t start = any_index();
    int64_t end = below(5) == 0 ? KW_SLICE_END : any_index();
    int64_t step = below(20) == 0 ? 0 : 1 + below(3);
    numbers order(static_cast<size_t>(dim()));
    switch (which) {
    case 0:
        return both(
            "slice", {at, start, end, step},
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_slice(ours_, at, start, end, step + (fault_ ? 1 : 0), out, err);
            },
            [&] { return theirs_.slice(at, start, end, step); });
    case 1:
        return both(
            "select", {at, start},
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_select(ours_, at, start, out, err);
            },
            [&] { return theirs_.select(at, start); });
    case 2:
        // Of no elements the original takes the last one for a beginning.
        start = at >= -dim() && at < dim() && theirs_.size(at) == 0 ? 0 : start;
        return both(
            "narrow", {at, start, step},
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_narrow(ours_, at, start, step, out, err);
            },
            [&] { return theirs_.narrow(at, start, step); });
    case 3: {
        int64_t other = any_dim(dim());
        return both(
            "transpose", {at, other},
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_transpose(ours_, at, other, out, err);
            },
            [&] { return theirs_.transpose(at, other); });
    }
    case 4: {
        for (size_t i = 0; i < order.size(); i++) {
            size_t other = static_cast<size_t>(below(static_cast<int64_t>(i) + 1));
            order[i] = order[other];
            order[other] = static_cast<int64_t>(i);
        }
        if (!order.empty() && below(8) == 0) {
            order[0] = at;
        }
        return both(
            "permute", order,
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_permute(ours_, list(order), out, err);
            },
            [&] { return theirs_.permute(order); });
    }
    case 5:
        return both(
            "squeeze", {at},
            [&](kw_tensor **out, kw_error *err) { return kw_tensor_squeeze(ours_, at, out, err); },
            [&] { return theirs_.squeeze(at); });
    default: {
        int64_t place = any_dim(dim() + 1);
        return both(
            "unsqueeze", {place},
            [&](kw_tensor **out, kw_error *err) {
                return kw_tensor_unsqueeze(ours_, place, out, err);
            },
            [&] { return theirs_.unsqueeze(place); });
    }
    }
}

bool pair::link()
{
    bool is_large = dim() > 6 || theirs_.numel() > 4 * elements;
    if (is_large) {
        return link_dims(1);
    }
    int64_t which = below(12);
    return which < 5 ? link_sizes(which) : link_dims(which - 5);
}

bool pair::is_equal()
{
    compared++;
    const c10::TensorImpl *theirs = theirs_.unsafeGetTensorImpl();
    uint32_t count = kw_tensor_dim(ours_);
    if (count != theirs_.dim() ||
        std::memcmp(kw_tensor_sizes(ours_), theirs_.sizes().data(), count * sizeof(int64_t)) != 0) {
        story_ += " sizes differ";
        return false;
    }
    if (std::memcmp(kw_tensor_strides(ours_), theirs_.strides().data(), count * sizeof(int64_t)) !=
            0 ||
        kw_tensor_storage_offset(ours_) != theirs_.storage_offset()) {
        story_ += " strides or offset differ";
        return false;
    }
    const auto last = c10::MemoryFormat::ChannelsLast;
    const auto last_3d = c10::MemoryFormat::ChannelsLast3d;
    bool are_equal =
        kw_tensor_is_contiguous(ours_) == theirs->is_contiguous() &&
        kw_tensor_is_contiguous_as(ours_, KW_MEMORY_CHANNELS_LAST) == theirs->is_contiguous(last) &&
        kw_tensor_is_contiguous_as(ours_, KW_MEMORY_CHANNELS_LAST_3D) ==
            theirs->is_contiguous(last_3d) &&
        kw_tensor_is_strides_like(ours_, KW_MEMORY_CHANNELS_LAST) ==
            theirs->is_strides_like(last) &&
        kw_tensor_is_strides_like(ours_, KW_MEMORY_CHANNELS_LAST_3D) ==
            theirs->is_strides_like(last_3d) &&
        kw_tensor_is_non_overlapping_and_dense(ours_) == theirs->is_non_overlapping_and_dense();
    story_ += are_equal ? "" : " flags differ";
    return are_equal;
}

settings read_arguments(int argc, char **argv)
{
    settings read;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--fault") == 0) {
            read.fault = true;
        } else if (std::strcmp(argv[i], "--chains") == 0 && i + 1 < argc) {
            read.chains = std::strtoull(argv[++i], nullptr, 10);
        } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            read.seed = std::strtoull(argv[++i], nullptr, 10);
        } else {
            std::fprintf(stderr, "`%s` is unknown, or needs a value\n", argv[i]);
            std::exit(2);
        }
    }
    return read;
}

} // namespace

int main(int argc, char **argv)
{
    settings read = read_arguments(argc, argv);
    c10::SetStackTraceFetcher([] { return std::string(); }); // they take most of the time
    for (uint64_t i = 0; i < read.chains; i++) {
        pair tensors(read.seed + i, read.fault);
        for (int link = 0; link < links; link++) {
            if (!tensors.link() || !tensors.is_equal()) {
                std::printf("mismatch with --seed %" PRIu64 ":%s\n", read.seed + i,
                            tensors.story().c_str());
                return 1;
            }
        }
    }
    std::printf("%" PRIu64 " chains, %" PRIu64 " tensors compared, %" PRIu64
                " calls that both refuse, seeds from %" PRIu64 " on\n",
                read.chains, pair::compared, pair::both_failed, read.seed);
    return 0;
}
