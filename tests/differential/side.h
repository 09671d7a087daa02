// Sides: what a scenario is played on, and what each side can be asked. There are two: the original
// (libtorch's dispatcher) and the subject (Keyway's).
//
// Keyway's key numbers stand for names on both sides.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_SIDE_H
#define DIFFERENTIAL_SIDE_H

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <keyway/key.h>
#include <keyway/keyset.h>

#include "scenario.h"

namespace differential {

// The kernel name of the fallbacks that libtorch brings along, on both sides.
inline constexpr const char *in_tree = "in_tree";

// The rules' words that are compared beside the original's own.
inline constexpr const char *missing_reason = "missing";
inline constexpr const char *ambiguous_reason = "ambiguous autogradother";

struct Cell {
    std::string kernel; // "" if missing or ambiguous
    std::string reason; // the original's word for the rule; "" if the side lacks the key
    bool falls_through = false;
};

struct Table {
    bool exists = false; // the operator has a registration
    std::array<Cell, KW_SLOT_COUNT> cells;
};

enum class Ending {
    ran,
    no_kernel,
    no_tensors,
    ambiguous,
    fell_through,
    absent,
    other
};

struct Outcome {
    Ending ending = Ending::other;
    std::string kernel;           // ran
    kw_keyset keys = {0};         // what the kernel was given; of the original's failures, too
    std::string text;             // other: the failure
    bool is_predicted = false;    // the original was not called, but its table was asked
    bool is_masked_early = false; // the arguments' backend chose another mask than the whole set's
    bool was_stale = false;       // the original's stored table had to be refreshed
};

// A fallback that every libtorch process has.
struct InTree {
    kw_key key;
    bool falls_through;
};

// A schema's arguments, as both sides build them: each entry is one argument.
enum class Argument {
    tensor,
    optional_tensor,
    tensor_list,
    optional_tensor_list,
    integer
};

struct Shape {
    const char *schema; // behind the operator's name
    std::vector<Argument> arguments;
    unsigned return_count; // tensors
};

// The schemas that scenarios may use, the plainest first.
const std::vector<Shape> &shapes();
const Shape *shape_of(const std::string &schema);

// Spreads the keys of a call over so many tensors, round robin.
std::vector<std::vector<kw_key>> spread(const std::vector<kw_key> &keys, size_t tensor_count);

// How many tensors an argument holds; lists have two.
size_t tensor_count(Argument argument);
size_t tensor_count(const Shape &shape);

enum class Answer {
    done,
    refused
};

class Side {
  public:
    virtual ~Side() = default;

    // Defines, registers or removes; if that is refused, `*why` says why. Removing what is not
    // there changes nothing. Only the subject knows C signatures.
    virtual Answer change(const Statement &statement, std::string *why) = 0;

    // Adds to the thread's sets, or puts them back; false: they are not back.
    virtual bool change_local(const Statement &statement) = 0;

    virtual Table table(const std::string &op) = 0;

    // Calls with arguments of this shape, the operator's if it is defined.
    virtual Outcome call(const Statement &statement, const Shape &shape) = 0;

    // Puts the thread's sets back and takes every registration back.
    virtual void finish() = 0;
};

} // namespace differential

#endif // DIFFERENTIAL_SIDE_H
