#pragma once
// What is behind a Session: all that its arrays share.

#include "fusion/fuser.hpp"
#include "refrain/arrays/session.hpp"
#include "storage/storage.hpp"
#include "storage/tiling.hpp"
#include "storage/value.hpp"

namespace refrain::arrays::detail {

class SessionImpl {
 public:
  SessionImpl(Context& context, const Settings& settings);
  ~SessionImpl();

  // --- arrays -----------------------------------------------------------------------------------------------

  /// Elements that nothing is known of yet: for the result of a step, or with storage of arbitrary contents.
  /// MemoryError where the machine has no room for it; before that the window is launched, whose temporaries need none.
  Array make_array(const Shape& shape, DType type, const Where& where);
  /// While it lives, new arrays are temporaries, which need room only if the window is launched before they end.
  class Temporaries {
   public:
    explicit Temporaries(SessionImpl& session) : session_(session) { ++session_.temporaries_; }
    ~Temporaries() { --session_.temporaries_; }
    Temporaries(const Temporaries&) = delete;
    Temporaries& operator=(const Temporaries&) = delete;

   private:
    SessionImpl& session_;
  };
  Array make_stored(const Shape& shape, DType type, const Where& where);
  void drop(Value& value) noexcept;
  /// The value's storage, with its elements on their way there. Not of an array without elements.
  Storage& stored(Value& value);
  /// The same for a task that will change elements: what waits to read them is launched before.
  Storage& changeable(Value& value);

  // --- element by element -------------------------------------------------------------------------------------

  /// The operation on operands cast to `type` and broadcast.
  Array compute(kernels::Op op, DType type, std::span<const Operand* const> operands,
                const Where& where);
  /// A new array of this shape with the operand's elements, broadcast and cast.
  Array cast(const Operand& operand, DType type, const Shape& shape);
  /// The elements of a view become `values`, broadcast and cast.
  void assign(const Array& view, const Operand& values);
  /// The reduction of `terms`, cast to `type`, along axes (a bit each, at least one), of which there are some terms;
  /// `terms` is given up.
  Array reduce(kernels::Reduce op, DType type, Array terms, unsigned axes, const Shape& result,
               const Where& where);
  void flush();

  Context& context;
  const Settings settings;
  Tilings tilings;
  RangesTable ranges;
  const std::size_t room;  ///< bytes that all arrays may have
  Pool pool;
  std::uint64_t operations = 0;

  [[nodiscard]] const Fuser& fuser() const { return fuser_; }
  /// What went wrong when an operation was launched last.
  [[nodiscard]] const std::string& why_not_computed() const { return not_computed_; }

 private:
  Array new_array(const Shape& shape, DType type, const Where& where, bool promised);
  /// Launches what is pending where there is no room for so much more: its temporaries need none then.
  void make_room(std::size_t bytes);
  /// Before they are stored: MemoryError, with everything as it is, where there is no room.
  void promise_temporaries();
  [[noreturn]] void complain_of_room(const Shape& shape, DType type, const Where& where) const;
  /// The terms as what the window computes: in the window they come from, or in a new one.
  Source terms_of(const Array& terms, DType type, const Where& where);
  /// Launches what is pending for arrays that are there, where new ones can stay pending.
  void flush_stores();
  template <class Launch>
  void launch_pending(Launch&& launch_by);
  void end(Value& value) noexcept;
  void after_step();

  Fuser fuser_;
  int temporaries_ = 0;
  std::string not_computed_;
  Value* first_ = nullptr;  // all that live
};

/// That of an array; ArrayError for an empty handle.
SessionImpl& session_of(const Array& array, const Where& where);
/// That of the operands, which are of one; ArrayError otherwise.
SessionImpl& session_of(std::span<const Operand* const> operands);

}  // namespace refrain::arrays::detail
