// Implements instruction.h.
#include "runtime/diagnostics/instruction.h"

#include <cstring>

namespace heddle::runtime {
namespace {

using Kind = Instruction::Kind;

constexpr unsigned rax = 0, rcx = 1, rdx = 2, rsp = 4, rbp = 5;

std::uint16_t bit(unsigned r) {
  return static_cast<std::uint16_t>(1U << r);
}

class Reader {
public:
  explicit Reader(const std::uint8_t* at) : begin_(at), at_(at) {}

  Instruction read() {
    prefixes();
    const unsigned opcode = *at_++;
    const bool known = opcode == 0x0f ? two_bytes(*at_++) : one_byte(opcode);
    if (!known) {
      return {};
    }
    i_.length = static_cast<std::uint8_t>(at_ - begin_);
    return i_;
  }

private:
  enum class Use : std::uint8_t {
    None = 0,
    Read = 1,
    Write = 2,
    Both = 3
  };

  void prefixes() {
    for (;; ++at_) {
      if (*at_ == 0x66) {
        short_ = true;
      } else if (*at_ != 0xf0 && *at_ != 0xf2 && *at_ != 0xf3 && *at_ != 0x64) {
        break;
      }
    }
    if ((*at_ & 0xf0) == 0x40) {
      rex_ = *at_++;
    }
  }
  template <class T> T number() {
    T value{};
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  void skip(unsigned bytes) { at_ += bytes; }
  void reads(unsigned r) { i_.reads |= bit(r); }
  void writes(unsigned r) { i_.writes |= bit(r); }
  void uses(unsigned r, Use use) {
    if (use == Use::Read || use == Use::Both) {
      reads(r);
    }
    if (use == Use::Write || use == Use::Both) {
      writes(r);
    }
  }

  /// Which operation of a group: the field beside r/m.
  unsigned field() const { return *at_ >> 3 & 7; }

  /// `r`: what happens to the register operand, and `rm` to the other one. Byte operands are taken
  /// for whole registers.
  void operands(Use r, Use rm) {
    const unsigned modrm = *at_++;
    const unsigned mode = modrm >> 6;
    const unsigned reg = (modrm >> 3 & 7) | (rex_ & 4) << 1;
    uses(reg, r);
    unsigned base = modrm & 7;
    if (mode == 3) {
      base |= (rex_ & 1) << 3;
      uses(base, rm);
      return;
    }
    bool index = false, absolute = false;
    if (base == 4) {
      const unsigned sib = *at_++;
      const unsigned scaled = (sib >> 3 & 7) | (rex_ & 2) << 2;
      if (scaled != 4) {
        index = true;
        reads(scaled);
      }
      base = sib & 7;
    }
    std::int32_t displacement = 0;
    if (mode == 0 && base == 5) { // of the next instruction, or absolute
      absolute = true;
      skip(4);
    } else if (mode == 1) {
      displacement = number<std::int8_t>();
    } else if (mode == 2) {
      displacement = number<std::int32_t>();
    }
    if (absolute) {
      return;
    }
    base |= (rex_ & 1) << 3;
    reads(base);
    if (!index) {
      i_.slot = {static_cast<std::uint8_t>(base), displacement};
      i_.writes_slot = rm == Use::Write;
    }
  }

  bool other() {
    i_.kind = Kind::Other;
    return true;
  }
  bool move() {
    i_.kind = Kind::Move;
    return true;
  }
  bool jump(Kind kind, std::int32_t by) {
    i_.kind = kind;
    i_.target = at_ + by;
    return true;
  }
  void immediate(bool byte) { skip(byte ? 1 : short_ ? 2 : 4); }

  /// `op r, r` for xor and sub reads nothing.
  bool is_zeroing(unsigned opcode) const {
    const bool can = opcode == 0x31 || opcode == 0x33 || opcode == 0x29 || opcode == 0x2b;
    return can && (*at_ >> 6) == 3 && (*at_ >> 3 & 7) == (*at_ & 7) &&
           ((rex_ >> 2 & 1) == (rex_ & 1));
  }

  bool arithmetic(unsigned opcode) { // 00 to 3f
    const unsigned form = opcode & 7;
    const bool compare = (opcode & 0x38) == 0x38;
    const Use target = compare ? Use::Read : Use::Both;
    switch (form) {
    case 0:
    case 1:
    case 2:
    case 3:
      if (is_zeroing(opcode)) {
        operands(Use::Write, Use::Write);
        return other();
      }
      operands(form < 2 ? Use::Read : target, form < 2 ? target : Use::Read);
      return other();
    case 4:
    case 5:
      uses(rax, target);
      immediate(form == 4);
      return other();
    default:
      return false;
    }
  }

  bool one_byte(unsigned opcode) {
    if (opcode < 0x40) {
      return arithmetic(opcode);
    }
    const unsigned low = (opcode & 7) | (rex_ & 1) << 3;
    if (opcode >= 0x50 && opcode < 0x58) { // push
      reads(low);
      writes(rsp);
      return other();
    }
    if (opcode >= 0x58 && opcode < 0x60) { // pop
      writes(low);
      writes(rsp);
      return other();
    }
    if (opcode >= 0x70 && opcode < 0x80) {
      const auto by = number<std::int8_t>();
      return jump(Kind::Branch, by);
    }
    if (opcode >= 0xb0 && opcode < 0xc0) { // mov r, number
      writes(low);
      skip(opcode < 0xb8 ? 1 : (rex_ & 8) != 0 ? 8 : short_ ? 2 : 4);
      return other();
    }
    switch (opcode) {
    case 0x63: // movsxd
      operands(Use::Write, Use::Read);
      return move();
    case 0x68:
      skip(4);
      writes(rsp);
      return other();
    case 0x6a:
      skip(1);
      writes(rsp);
      return other();
    case 0x69:
    case 0x6b:
      operands(Use::Write, Use::Read);
      immediate(opcode == 0x6b);
      return other();
    case 0x80:
    case 0x81:
    case 0x83: {
      const bool compare = field() == 7;
      operands(Use::None, compare ? Use::Read : Use::Both);
      immediate(opcode != 0x81);
      return other();
    }
    case 0x84:
    case 0x85:
      operands(Use::Read, Use::Read);
      return other();
    case 0x86:
    case 0x87:
      operands(Use::Both, Use::Both);
      return other();
    case 0x88:
    case 0x89:
      operands(Use::Read, Use::Write);
      return move();
    case 0x8a:
    case 0x8b:
      operands(Use::Write, Use::Read);
      return move();
    case 0x8d: // lea: whoever has the address may read what is there
      operands(Use::Write, Use::Read);
      return other();
    case 0x90:
      return other();
    case 0x98:
      uses(rax, Use::Both);
      return other();
    case 0x99:
      reads(rax);
      writes(rdx);
      return other();
    case 0xa8:
    case 0xa9:
      reads(rax);
      immediate(opcode == 0xa8);
      return other();
    case 0xc0:
    case 0xc1:
      operands(Use::None, Use::Both);
      skip(1);
      return other();
    case 0xd0:
    case 0xd1:
      operands(Use::None, Use::Both);
      return other();
    case 0xd2:
    case 0xd3:
      operands(Use::None, Use::Both);
      reads(rcx);
      return other();
    case 0xc3:
      i_.kind = Kind::Return;
      return true;
    case 0xc6:
    case 0xc7:
      operands(Use::None, Use::Write);
      immediate(opcode == 0xc6);
      return other();
    case 0xc9: // leave
      reads(rbp);
      writes(rsp);
      writes(rbp);
      return other();
    case 0xcc:
      i_.kind = Kind::End;
      return true;
    case 0xe8:
      skip(4);
      i_.kind = Kind::Call;
      return true;
    case 0xe9: {
      const auto by = number<std::int32_t>();
      return jump(Kind::Jump, by);
    }
    case 0xeb: {
      const auto by = number<std::int8_t>();
      return jump(Kind::Jump, by);
    }
    case 0xf6:
    case 0xf7: {
      const unsigned which = field();
      operands(Use::None, which == 2 || which == 3 ? Use::Both : Use::Read);
      if (which < 2) {
        immediate(opcode == 0xf6);
      } else if (which > 3) { // products and quotients
        uses(rax, Use::Both);
        writes(rdx);
      }
      return other();
    }
    case 0xfe:
      operands(Use::None, Use::Both);
      return other();
    case 0xff: {
      const unsigned which = field();
      operands(Use::None, which < 2 ? Use::Both : Use::Read);
      i_.kind = which == 2 ? Kind::Call : which == 4 ? Kind::End : Kind::Other;
      return which < 3 || which == 4 || which == 6;
    }
    default:
      return false;
    }
  }

  bool two_bytes(unsigned opcode) {
    if (opcode >= 0x80 && opcode < 0x90) {
      const auto by = number<std::int32_t>();
      return jump(Kind::Branch, by);
    }
    if (opcode >= 0x90 && opcode < 0xa0) { // setcc: one byte of the register
      operands(Use::None, Use::Write);
      return other();
    }
    if (opcode >= 0x40 && opcode < 0x50) { // cmovcc
      operands(Use::Both, Use::Read);
      return other();
    }
    switch (opcode) {
    case 0x0b:
      i_.kind = Kind::End;
      return true;
    case 0x1e: // endbr64
    case 0x1f:
      operands(Use::None, Use::None);
      return other();
    case 0xaf:
      operands(Use::Both, Use::Read);
      return other();
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf:
      operands(Use::Write, Use::Read);
      return other();
    case 0x2c: // from floating-point numbers
    case 0x2d:
      operands(Use::Write, Use::None);
      i_.slot.reset();
      return other();
    case 0x2a: // from integers
    case 0x6e:
      vector_operands(Use::Read);
      return other();
    case 0x7e:
      vector_operands(Use::Write);
      return other();
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
    case 0x14:
    case 0x16:
    case 0x17:
    case 0x28:
    case 0x29:
    case 0x2e:
    case 0x2f:
    case 0x51:
    case 0x54:
    case 0x57:
    case 0x58:
    case 0x59:
    case 0x5a:
    case 0x5b:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f:
    case 0x6c:
    case 0x6f:
    case 0x7f:
    case 0xd6:
    case 0xef:
      vector_operands(Use::None);
      return other();
    default:
      return false;
    }
  }

  /// The register operand is a vector's. Memory is read.
  void vector_operands(Use rm) { operands(Use::None, (*at_ >> 6) == 3 ? rm : Use::Read); }

  const std::uint8_t* const begin_;
  const std::uint8_t* at_;
  unsigned rex_ = 0;
  bool short_ = false; // 16 bits
  Instruction i_;
};

} // namespace

Instruction decode(const std::uint8_t* at) {
  return Reader(at).read();
}

} // namespace heddle::runtime
