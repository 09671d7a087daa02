// The embedder's tensor of these tests: a counted block with a key set and a number.
//
// Layer:   test
// Threads: any; references are counted atomically.
// SPDX-License-Identifier: MIT

#ifndef TESTS_CXX_TENSOR_HPP
#define TESTS_CXX_TENSOR_HPP

#include <atomic>
#include <utility>

#include <keyway/keyway.hpp>

// What a handle points to. `live` counts all of them.
struct tensor_block {
    explicit tensor_block(kw::keyset of, double number_of = 0) : keys(of), number(number_of)
    {
        live++;
    }

    ~tensor_block()
    {
        live--;
    }

    static inline std::atomic<int> live{0};

    std::atomic<int> references{1};
    kw::keyset keys;
    double number;
};

// A counted reference, or none: the absent tensor.
class Tensor {
  public:
    Tensor() = default;

    explicit Tensor(double number, kw::keyset keys = {kw::key::CPU})
        : block_(new tensor_block(keys, number))
    {
    }

    Tensor(const Tensor &other) : block_(other.block_)
    {
        if (block_ != nullptr) {
            block_->references++;
        }
    }

    Tensor(Tensor &&other) noexcept : block_(std::exchange(other.block_, nullptr))
    {
    }

    Tensor &operator=(Tensor other) noexcept
    {
        std::swap(block_, other.block_);
        return *this;
    }

    ~Tensor()
    {
        if (block_ != nullptr && --block_->references == 0) {
            delete block_;
        }
    }

    static Tensor adopt(tensor_block *block) noexcept
    {
        Tensor made;
        made.block_ = block;
        return made;
    }

    tensor_block *release() noexcept
    {
        return std::exchange(block_, nullptr);
    }

    tensor_block *get() const noexcept
    {
        return block_;
    }

    double number() const noexcept
    {
        return block_ != nullptr ? block_->number : -1;
    }

    int references() const noexcept
    {
        return block_->references;
    }

  private:
    tensor_block *block_ = nullptr;
};

template <> struct kw::tensor_traits<Tensor> {
    static void *handle(const Tensor &tensor) noexcept
    {
        return tensor.get();
    }

    static void *release(Tensor &&tensor) noexcept
    {
        return tensor.release();
    }

    static Tensor adopt(void *handle) noexcept
    {
        return Tensor::adopt(static_cast<tensor_block *>(handle));
    }

    static kw_keyset keys(const Tensor &tensor) noexcept
    {
        return tensor.get() != nullptr ? tensor.get()->keys : kw::keyset();
    }
};

template <> struct kw::tensor_traits<tensor_block *> : kw::pointer_tensor<tensor_block> {
    static kw_keyset keys(const tensor_block *tensor) noexcept
    {
        return tensor->keys;
    }
};

inline const kw_tensor_type &tensor_type()
{
    static const kw_tensor_type type = [] {
        kw_tensor_type made = kw::make_tensor_type<Tensor>("tensor of the C++ tests");
        made.generator_keys = [](const void *) -> kw_keyset { return kw::keyset{kw::key::CUDA}; };
        return made;
    }();
    return type;
}

inline kw::dispatcher make_dispatcher()
{
    return kw::dispatcher::create(&tensor_type());
}

#endif // TESTS_CXX_TENSOR_HPP
