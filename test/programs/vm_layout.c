/* SPDX-License-Identifier: MIT */
/*
 * Proves, at compile time, that the constants in ext/heapline_core/vm/ruby_vm.h are where this Ruby's own headers put
 * the fields. Compiled with the VM's private headers (datadog-ruby_core_source) and the public ones of the running
 * Ruby; ROW_… are the version's row of the table in ruby_vm.c.
 */
#if __has_include("vm_core.h") /* else there is nothing to prove by; the test that a wrong constant is refused shows   \
                                  it */
#include <ruby.h>
#include <ruby/version.h>

#include "vm_core.h"

#include "iseq.h"
#include "method.h"

#include <stddef.h>

#include "vm/ruby_vm.h"

#define SAME(constant, type, field) _Static_assert((constant) == offsetof(type, field), #type "." #field)

SAME(HL_EC_STACK, rb_execution_context_t, vm_stack);
SAME(HL_EC_STACK_SIZE, rb_execution_context_t, vm_stack_size);
SAME(HL_EC_FRAME, rb_execution_context_t, cfp);
SAME(ROW_EC_TAG, rb_execution_context_t, tag);
#ifndef RUBY_JMP_BUF /* else tags are not followed: see native_walk.c */
SAME(HL_TAG_JUMP, struct rb_vm_tag, buf);
SAME(HL_TAG_OUTER, struct rb_vm_tag, prev);
#endif
SAME(ROW_EC_FIBER, rb_execution_context_t, fiber_ptr);
SAME(ROW_EC_THREAD, rb_execution_context_t, thread_ptr);
SAME(ROW_EC_MACHINE + HL_MACHINE_TOP, rb_execution_context_t, machine.stack_start);
SAME(ROW_EC_MACHINE + HL_MACHINE_BYTES, rb_execution_context_t, machine.stack_maxsize);
SAME(ROW_THREAD_RACTOR, rb_thread_t, ractor);
SAME(HL_FRAME_PC, rb_control_frame_t, pc);
SAME(HL_FRAME_ISEQ, rb_control_frame_t, iseq);
SAME(ROW_ISEQ_BODY, rb_iseq_t, body);
SAME(ROW_BODY_ENCODED - 4, struct rb_iseq_constant_body, iseq_size);
SAME(ROW_BODY_ENCODED, struct rb_iseq_constant_body, iseq_encoded);
SAME(ROW_BODY_PATHOBJ, struct rb_iseq_constant_body, location.pathobj);
SAME(ROW_BODY_BASE_LABEL, struct rb_iseq_constant_body, location.base_label);
SAME(ROW_BODY_LABEL, struct rb_iseq_constant_body, location.label);
SAME(HL_METHOD_OWNER, rb_callable_method_entry_t, owner);
SAME(ROW_TYPED_DATA, struct RTypedData, data);
SAME(ROW_THREAD_EC, rb_thread_t, ec);
SAME(ROW_STRING_EMBEDDED, struct RString, as.embed.ary);
SAME(24, struct RString, as.heap.ptr);
SAME(16, struct RArray, as.ary);
SAME(32, struct RArray, as.heap.ptr);
_Static_assert(ROW_FRAME_SIZE == sizeof(rb_control_frame_t), "size of a control frame");
_Static_assert(RSTRING_NOEMBED == 1 << 13 && RARRAY_EMBED_FLAG == 1 << 13, "flags of strings and arrays");
_Static_assert(HL_FRAME_FINISH == VM_FRAME_FLAG_FINISH && HL_FRAME_OF_C == VM_FRAME_FLAG_CFRAME, "flags of frames");
_Static_assert(HL_FRAME_KIND == VM_FRAME_MAGIC_MASK && HL_FRAME_DUMMY == VM_FRAME_MAGIC_DUMMY, "kinds of frames");
/* The upper half of a frame's flags is free (ruby_walk.h, R3). Ruby 3.1 has no name for their type. */
#if RUBY_API_VERSION_MAJOR == 3 && RUBY_API_VERSION_MINOR == 1
_Static_assert((VM_FRAME_MAGIC_MASK | 2ull * VM_FRAME_FLAG_PASSED) >> 32 == 0, "flags of frames");
#else
_Static_assert(sizeof(enum vm_frame_env_flags) == sizeof(uint32_t), "flags of frames");
#endif
_Static_assert(imemo_ment == 6 && RUBY_T_IMEMO == 0x1a && RUBY_T_DATA == 0x0c, "types");

#include "../../ext/heapline/vm_offsets.h"

SAME(EC_STACK, rb_execution_context_t, vm_stack);
SAME(EC_STACK_SIZE, rb_execution_context_t, vm_stack_size);
SAME(EC_FRAME, rb_execution_context_t, cfp);
SAME(EC_INTERRUPT_FLAG, rb_execution_context_t, interrupt_flag);
SAME(EC_INTERRUPT_MASK, rb_execution_context_t, interrupt_mask);
SAME(EC_FIBER, rb_execution_context_t, fiber_ptr);
SAME(EC_THREAD, rb_execution_context_t, thread_ptr);
SAME(THREAD_EC, rb_thread_t, ec);
_Static_assert(FRAME_SIZE == sizeof(rb_control_frame_t), "size of a control frame, for the extension");
SAME(FRAME_PC, rb_control_frame_t, pc);
SAME(FRAME_ISEQ, rb_control_frame_t, iseq);
SAME(FRAME_SELF, rb_control_frame_t, self);
SAME(FRAME_EP, rb_control_frame_t, ep);
SAME(ISEQ_BODY, rb_iseq_t, body);
SAME(BODY_SIZE, struct rb_iseq_constant_body, iseq_size);
SAME(BODY_ENCODED, struct rb_iseq_constant_body, iseq_encoded);
SAME(BODY_PATHOBJ, struct rb_iseq_constant_body, location.pathobj);
SAME(BODY_COLUMN, struct rb_iseq_constant_body, location.code_location.beg_pos.column);
SAME(BODY_LOCALS, struct rb_iseq_constant_body, local_table);
SAME(BODY_PARENT, struct rb_iseq_constant_body, parent_iseq);
SAME(BODY_LOCAL_COUNT, struct rb_iseq_constant_body, local_table_size);
SAME(METHOD_ID, rb_callable_method_entry_t, called_id);
SAME(ENV_ISEQ, rb_env_t, iseq);
SAME(ENV_EP, rb_env_t, ep);
SAME(PROC_SELF, rb_proc_t, block.as.captured.self);
SAME(PROC_TYPE, rb_proc_t, block.type);
#if __has_include("constant.h") /* the headers of Ruby 3.1 and 3.2 are without it; live_dump_test.rb shows it, too */
#include "constant.h"
SAME(CONSTANT_LINE, rb_const_entry_t, line);
SAME(CONSTANT_VALUE, rb_const_entry_t, value);
SAME(CONSTANT_FILE, rb_const_entry_t, file);
#endif
_Static_assert(VM_ENV_DATA_SIZE == 3 && VM_FRAME_FLAG_CFRAME == 0x80 && imemo_env == 0, "frames and environments");
_Static_assert(HL_FRAME_FINISH == VM_FRAME_FLAG_FINISH && HL_FRAME_OF_C == VM_FRAME_FLAG_CFRAME, "flags of frames");
_Static_assert(HL_FRAME_KIND == VM_FRAME_MAGIC_MASK && HL_FRAME_DUMMY == VM_FRAME_MAGIC_DUMMY, "kinds of frames");
_Static_assert(imemo_ment == IMEMO_METHOD && imemo_iseq == IMEMO_CODE, "kinds of internal objects");
#endif
