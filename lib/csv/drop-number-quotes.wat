;; Copies the engine's CSV from one region of memory to another and leaves out the quotes of numbers. Every value
;; is quoted, so a quote always enters or leaves one; a doubled quote leaves and enters again. Most bytes are inside
;; values, where nothing but the next quote matters: they are searched 64 at a time and copied 16 or 64 at a time.

(module
  ;; Memory: a byte per column, 1 where its quotes are kept and 0 where they are left out; then the input; then the
  ;; output, into which nothing is written that has still to be read. Loads and stores run up to 64 bytes past the end
  ;; of their region: what is loaded there is never used, and beyond the output there is nothing to overwrite.
  (memory (export "memory") 3 3)
  (global (export "mostColumns") i32 (i32.const 1024))
  (global $input (export "input") i32 (i32.const 1024))
  (global (export "inputBytes") i32 (i32.const 65536))
  (global $output (export "output") i32 (i32.const 66560)) ;; 1024 + 65536

  ;; Where in a row the input begins and, after the call, ends: the file comes in pieces that are cut anywhere. The caller
  ;; keeps it between them, since files take turns.
  (global $column (export "column") (mut i32) (i32.const 0))
  (global $insideValue (export "insideValue") (mut i32) (i32.const 0))

  ;; A bit for each of 16 bytes, the lowest for the first: whether it is a quote.
  (func $quotesOf (param $bytes v128) (result i64)
    (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22))))))

  ;; Copies the first $bytes of the input. Gives how many bytes the output holds, or -1 where a row has a column too
  ;; few or too many.
  (func (export "copy") (param $bytes i32) (param $lastColumn i32) (result i32)
    (local $from i32) (local $end i32) (local $to i32)
    (local $column i32) (local $insideValue i32) ;; the globals' copies, which the loops have in registers
    (local $windowEnd i32) ;; the window is what is left of up to 64 bytes: $from to here
    (local $quotes i64) ;; a bit for each byte of the window, and beyond it bits without meaning
    (local $length i32)
    (local $byte i32)

    (local.set $column (global.get $column))
    (local.set $insideValue (global.get $insideValue))
    (local.set $from (global.get $input))
    (local.set $end (i32.add (local.get $from) (local.get $bytes)))
    (local.set $to (global.get $output))

    (block $done
      (loop $nextWindow
        (br_if $done (i32.eq (local.get $from) (local.get $end)))
        (local.set $windowEnd (i32.add (local.get $from) (i32.const 64)))
        (if (i32.gt_u (local.get $windowEnd) (local.get $end))
          (then (local.set $windowEnd (local.get $end))))
        (local.set $quotes
          (i64.or
            (i64.or
              (call $quotesOf (v128.load (local.get $from)))
              (i64.shl (call $quotesOf (v128.load offset=16 (local.get $from))) (i64.const 16)))
            (i64.or
              (i64.shl (call $quotesOf (v128.load offset=32 (local.get $from))) (i64.const 32))
              (i64.shl (call $quotesOf (v128.load offset=48 (local.get $from))) (i64.const 48)))))

        (loop $nextValue
          ;; The rest of a value and the quote that leaves it, or all of the window if it has no quote. More is copied
          ;; than that, since stores of one size are fast; what is too much is overwritten.
          (if (local.get $insideValue)
            (then
              (local.set $length (i32.wrap_i64 (i64.ctz (local.get $quotes))))
              (v128.store (local.get $to) (v128.load (local.get $from)))
              (if (i32.ge_u (local.get $length) (i32.const 16))
                (then
                  (v128.store offset=16 (local.get $to) (v128.load offset=16 (local.get $from)))
                  (v128.store offset=32 (local.get $to) (v128.load offset=32 (local.get $from)))
                  (v128.store offset=48 (local.get $to) (v128.load offset=48 (local.get $from)))))
              (if (i32.ge_u (i32.add (local.get $from) (local.get $length)) (local.get $windowEnd))
                (then
                  (local.set $to (i32.add (local.get $to) (i32.sub (local.get $windowEnd) (local.get $from))))
                  (local.set $from (local.get $windowEnd))
                  (br $nextWindow)))
              (local.set $insideValue (i32.const 0))
              (local.set $to
                (i32.add (i32.add (local.get $to) (local.get $length)) (i32.load8_u (local.get $column))))
              (local.set $length (i32.add (local.get $length) (i32.const 1)))
              (local.set $from (i32.add (local.get $from) (local.get $length)))
              ;; By 64 this shifts nothing, but then the window is over.
              (local.set $quotes (i64.shr_u (local.get $quotes) (i64.extend_i32_u (local.get $length))))
              (br_if $nextWindow (i32.eq (local.get $from) (local.get $windowEnd)))))

          ;; A byte between values: a comma, a line feed, or one that means nothing here.
          (if (i64.eqz (i64.and (local.get $quotes) (i64.const 1)))
            (then
              (local.set $byte (i32.load8_u (local.get $from)))
              (i32.store8 (local.get $to) (local.get $byte))
              (local.set $to (i32.add (local.get $to) (i32.const 1)))
              (local.set $from (i32.add (local.get $from) (i32.const 1)))
              (local.set $quotes (i64.shr_u (local.get $quotes) (i64.const 1)))
              (if (i32.eq (local.get $byte) (i32.const 0x2c))
                (then
                  (if (i32.eq (local.get $column) (local.get $lastColumn)) (then (return (i32.const -1))))
                  (local.set $column (i32.add (local.get $column) (i32.const 1)))))
              (if (i32.eq (local.get $byte) (i32.const 0x0a))
                (then
                  (if (i32.ne (local.get $column) (local.get $lastColumn)) (then (return (i32.const -1))))
                  (local.set $column (i32.const 0))))
              (br_if $nextWindow (i32.eq (local.get $from) (local.get $windowEnd)))))

          ;; The quote that enters a value.
          (if (i32.wrap_i64 (i64.and (local.get $quotes) (i64.const 1)))
            (then
              (local.set $insideValue (i32.const 1))
              (i32.store8 (local.get $to) (i32.const 0x22))
              (local.set $to (i32.add (local.get $to) (i32.load8_u (local.get $column))))
              (local.set $from (i32.add (local.get $from) (i32.const 1)))
              (local.set $quotes (i64.shr_u (local.get $quotes) (i64.const 1)))))

          (br_if $nextValue (i32.ne (local.get $from) (local.get $windowEnd))))
        (br $nextWindow)))

    (global.set $column (local.get $column))
    (global.set $insideValue (local.get $insideValue))
    (i32.sub (local.get $to) (global.get $output))))
