/* SPDX-License-Identifier: MIT */
/*
 * Is the VM laid out as heapline believes, and if not, how is it?
 *
 * Until that is known, lines come from rb_profile_frames, which also tells what the right answers are: of each frame
 * the code or the method (a VALUE), the path (a VALUE) and the line. A look compares all frames of the main thread with
 * what the layout says of the same stack. A field that leads to a wrong answer is sought among the words of its struct:
 * what fits all frames of all looks, and is the only one, is believed.
 *
 * P1  Nothing is read that is not yet proven, but through hl_probe. The public API gets none but objects of its own,
 * and code that was seen to contain the pc. P2  Believed is what several looks agreed on: different lines of different
 * code, one called by another. Until then, and where it never happens, the public API is right, and slower. On the main
 * thread, with the GVL and outside GC, inside malloc with the guard entered.
 */
#ifndef HL_RUBY_PROOF_H
#define HL_RUBY_PROOF_H

/* Look at the running frames, before a place is sought, while hl_ruby.public_only is HL_UNTIL_PROVEN. */
void hl_ruby_proof_look(void);

#endif
