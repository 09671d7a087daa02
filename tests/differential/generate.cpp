// Generation: what is drawn, and how often.
//
// A scenario concentrates on two or three backends, since most rules are about kernels that meet: a
// backend and its autograd key, an alias and what blocks it, two backends in one call.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "generate.h"

#include <algorithm>

#include "original.h"

namespace differential {

namespace {

// SplitMix64: small, and the same everywhere.
class Random {
  public:
    Random(uint64_t seed, uint64_t number) : state_(seed * 0x9e3779b97f4a7c15 + number)
    {
        (void)next();
        state_ ^= number * 0xd1342543de82ef95;
    }

    uint64_t next()
    {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    size_t below(size_t limit)
    {
        return static_cast<size_t>(next() % limit);
    }

    bool happens(unsigned percent)
    {
        return below(100) < percent;
    }

    template <typename T> const T &pick(const std::vector<T> &from)
    {
        return from[below(from.size())];
    }

  private:
    uint64_t state_;
};

// A choice among weighted things: returns the index of the one drawn.
template <size_t N> size_t draw(Random &random, const unsigned (&weights)[N])
{
    unsigned sum = 0;
    for (unsigned weight : weights) {
        sum += weight;
    }
    size_t left = random.below(sum);
    for (size_t i = 0; i < N; i++) {
        if (left < weights[i]) {
            return i;
        }
        left -= weights[i];
    }
    return N - 1;
}

const std::vector<kw_key> backend_blocks = {KW_KEY_Quantized, KW_KEY_Sparse, KW_KEY_NestedTensor};

class Generator {
  public:
    Generator(const KeyPool &pool, uint64_t seed, uint64_t number);

    Scenario make();

  private:
    kw_key per_backend(kw_key functionality);
    kw_key impl_key();
    kw_key call_key();
    kw_key fallback_key();
    std::vector<kw_key> call_keys(size_t at_most);
    std::string kernel();
    const std::string &op();

    void add(Statement statement);
    void define();
    void impl();
    void fallback();
    void remove_define();
    void remove_one(std::vector<Statement> *from, Verb verb);
    void local(Verb verb);
    void call();
    void step();

    const KeyPool &pool_;
    Random random_;
    std::vector<kw_backend> focus_;
    std::vector<std::string> ops_;
    unsigned fallthrough_percent_;
    bool has_fallbacks_; // they cost much: libtorch refreshes thousands of operators
    unsigned kernel_count_ = 0;
    Scenario scenario_;
    std::vector<Statement> impls_; // registered
    std::vector<Statement> fallbacks_;
    std::vector<std::string> defined_;
};

Generator::Generator(const KeyPool &pool, uint64_t seed, uint64_t number)
    : pool_(pool), random_(seed, number),
      fallthrough_percent_(static_cast<unsigned>(random_.below(4) * 15)),
      has_fallbacks_(random_.happens(40))
{
    for (size_t count = 2 + random_.below(2); count > 0; count--) {
        focus_.push_back(random_.pick(pool.backends));
    }
    ops_.push_back("f");
    if (random_.happens(15)) {
        ops_.push_back("g");
    }
}

// Of a backend in focus, if the original has the key.
kw_key Generator::per_backend(kw_key functionality)
{
    const kw_key key = kw_key_of(functionality, random_.pick(focus_));
    return original_has(key) ? key : random_.pick(pool_.all);
}

kw_key Generator::impl_key()
{
    switch (draw(random_, {30, 19, 14, 13, 6, 8, 5, 2, 3})) {
    case 0:
        return random_.pick(pool_.aliases);
    case 1:
        return per_backend(KW_KEY_Dense);
    case 2:
        return per_backend(KW_KEY_AutogradFunctionality);
    case 3:
        return per_backend(random_.pick(backend_blocks));
    case 4:
        return random_.pick(pool_.single_backends);
    case 5:
        return random_.pick(pool_.layers);
    case 6:
        return random_.pick(pool_.all);
    case 7:
        return random_.pick(pool_.blocks);
    default:
        return KW_KEY_Undefined; // the catch-all
    }
}

kw_key Generator::call_key()
{
    switch (draw(random_, {42, 20, 14, 8, 8, 6, 2})) {
    case 0:
        return per_backend(KW_KEY_Dense);
    case 1:
        return per_backend(KW_KEY_AutogradFunctionality);
    case 2:
        return per_backend(random_.pick(backend_blocks));
    case 3:
        return random_.pick(pool_.single_backends);
    case 4:
        return random_.pick(pool_.layers);
    case 5:
        return random_.pick(pool_.all);
    default:
        return random_.pick(pool_.blocks);
    }
}

// Nearly always one that libtorch leaves free.
kw_key Generator::fallback_key()
{
    kw_key key = per_backend(random_.happens(50) ? KW_KEY_Dense : KW_KEY_AutogradFunctionality);
    const bool is_free = std::count(pool_.free.begin(), pool_.free.end(), key) != 0;
    if ((is_free || random_.happens(10)) && random_.happens(60)) {
        return key;
    }
    return random_.pick(pool_.free);
}

// Often one that has a kernel, since a call without any says little.
std::vector<kw_key> Generator::call_keys(size_t at_most)
{
    std::vector<kw_key> keys;
    for (size_t count = 1 + random_.below(at_most); count > 0; count--) {
        kw_key key = call_key();
        if (!impls_.empty() && random_.happens(35)) {
            const kw_key registered = random_.pick(impls_).key;
            const bool has_bit = !kw_keyset_is_empty(kw_keyset_from_key(registered));
            key = has_bit ? registered : key;
        }
        if (std::count(keys.begin(), keys.end(), key) == 0) {
            keys.push_back(key);
        }
    }
    return keys;
}

std::string Generator::kernel()
{
    return random_.happens(fallthrough_percent_) ? fallthrough
                                                 : "k" + std::to_string(++kernel_count_);
}

const std::string &Generator::op()
{
    return random_.pick(ops_);
}

void Generator::add(Statement statement)
{
    statement.number = static_cast<unsigned>(scenario_.size());
    scenario_.push_back(std::move(statement));
}

// Sometimes a second time, which must be refused.
void Generator::define()
{
    Statement statement;
    statement.verb = Verb::define;
    statement.op = op();
    statement.schema = random_.pick(shapes()).schema;
    const bool is_defined = std::count(defined_.begin(), defined_.end(), statement.op) != 0;
    if (!is_defined) {
        defined_.push_back(statement.op);
    }
    if (!is_defined || random_.happens(20)) {
        add(statement);
    }
}

void Generator::remove_define()
{
    if (!defined_.empty()) {
        Statement statement;
        statement.verb = Verb::remove_define;
        statement.op = defined_.back();
        defined_.pop_back();
        add(statement);
    }
}

void Generator::impl()
{
    Statement statement;
    statement.verb = Verb::impl;
    statement.op = op();
    const bool covers = !impls_.empty() && random_.happens(10);
    statement.key = covers ? random_.pick(impls_).key : impl_key();
    statement.kernel = kernel();
    impls_.push_back(statement);
    add(statement);
}

void Generator::fallback()
{
    if (has_fallbacks_) {
        Statement statement;
        statement.verb = Verb::fallback;
        statement.key = fallback_key();
        statement.kernel = random_.happens(50) ? fallthrough : kernel();
        fallbacks_.push_back(statement);
        add(statement);
    }
}

void Generator::remove_one(std::vector<Statement> *from, Verb verb)
{
    if (!from->empty()) {
        const size_t place = random_.below(from->size());
        Statement statement = (*from)[place];
        from->erase(from->begin() + static_cast<std::ptrdiff_t>(place));
        statement.verb = verb;
        add(statement);
    }
}

void Generator::local(Verb verb)
{
    Statement statement;
    statement.verb = verb;
    if (verb != Verb::reset) {
        statement.keys = call_keys(2);
    }
    add(statement);
}

void Generator::call()
{
    Statement statement;
    statement.verb = Verb::call;
    statement.op = op();
    if (!random_.happens(4)) {
        statement.keys = call_keys(4);
    }
    add(statement);
}

void Generator::step()
{
    switch (draw(random_, {34, 9, 5, 3, 2, 1, 4, 4, 3, 30})) {
    case 0:
        return impl();
    case 1:
        return remove_one(&impls_, Verb::remove_impl);
    case 2:
        return fallback();
    case 3:
        return remove_one(&fallbacks_, Verb::remove_fallback);
    case 4:
        return define();
    case 5:
        return remove_define();
    case 6:
        return local(Verb::include);
    case 7:
        return local(Verb::exclude);
    case 8:
        return local(Verb::reset);
    default:
        return call();
    }
}

Scenario Generator::make()
{
    if (random_.happens(90)) {
        define();
    }
    for (size_t count = 4 + random_.below(21); count > 0; count--) {
        step();
    }
    return scenario_;
}

} // namespace

KeyPool::KeyPool(const std::vector<InTree> &fallbacks)
{
    for (unsigned number = 1; number < KW_KEY_LIMIT; number++) {
        const auto key = static_cast<kw_key>(number);
        if (!original_has(key)) {
            continue;
        }
        if (kw_key_is_alias(key)) {
            aliases.push_back(key);
        } else if (!kw_key_is_runtime(key)) {
            blocks.push_back(key);
        } else {
            all.push_back(key);
            const bool is_single = !kw_key_is_per_backend(kw_key_functionality(key));
            const bool is_csr = kw_key_functionality(key) == KW_KEY_SparseCsr;
            if (is_csr || (is_single && kw_key_is_backend_key(key))) {
                single_backends.push_back(key);
            } else if (is_single) {
                layers.push_back(key);
            }
        }
    }
    for (unsigned i = 1; i <= KW_BACKEND_COUNT; i++) {
        const auto backend = static_cast<kw_backend>(i);
        if (original_has(kw_key_of(KW_KEY_Dense, backend))) {
            backends.push_back(backend);
        }
    }
    free = all;
    for (const InTree &fallback : fallbacks) {
        free.erase(std::find(free.begin(), free.end(), fallback.key));
    }
}

Scenario generate(const KeyPool &pool, uint64_t seed, uint64_t number)
{
    return Generator(pool, seed, number).make();
}

} // namespace differential
