# frozen_string_literal: true

require "pty"
require "io/console"
require "heapline/terminal/display_width"

# A program on a terminal of its own: what it writes becomes a screen, as a terminal shows it, and what a user types
# reaches it. Tests wait for what is on the screen.
class TerminalProgram
  PIECE = /\e\[([?\d;]*)([A-Za-z])|\r|\n|[^\e\r\n]/

  # Can this machine give us a terminal? In a bare chroot there is none, and PTY raises what it likes.
  def self.possible?
    PTY.open { true }
  rescue SystemCallError, RuntimeError
    false
  end

  attr_reader :pid

  # env, command: as for Process.spawn; rows and columns of the terminal.
  def initialize(env, *command, rows: 24, columns: 100)
    @output, @input, @pid = PTY.spawn(env, *command)
    @rest = "".b
    @log = +""
    resize(rows, columns)
  end

  # All that was written until now.
  def log
    receive
    @log
  end

  def inspect
    "#<#{self.class} #{@pid}>"
  end

  # The screen as lines of text, as of now.
  def lines
    receive
    @lines.map { |cells| cells.join.rstrip }
  end

  def screen
    lines.join("\n")
  end

  def type(text)
    @input.write(text)
  end

  def resize(rows, columns)
    @rows = rows
    @columns = columns
    @lines = blank
    @row = @column = 0
    @output.winsize = [rows, columns]
  end

  # Is the program on the alternate screen?
  def alternate?
    (log.rindex("\e[?1049h") || -1) > (@log.rindex("\e[?1049l") || -1)
  end

  # Wait until more was written, but not long: the program may just have ended.
  def wait_for_output
    IO.select(@gone ? nil : [@output], nil, nil, 0.05)
  end

  # Has the program closed its terminal?
  def gone?
    receive
    @gone
  end

  # The terminal goes away, as when its window is closed.
  def hang_up
    [@output, @input].each { |io| io.close unless io.closed? }
  end

  # Process::Status where it has ended, else nil.
  def status
    @status ||= Process.wait2(@pid, Process::WNOHANG)&.last
  end

  # End whatever runs on the terminal.
  def close
    hang_up
    Process.kill(:KILL, @pid) unless status
    @status ||= Process.wait2(@pid).last
  rescue Errno::ESRCH, Errno::ECHILD
    nil
  end

  private

  def blank
    Array.new(@rows) { Array.new(@columns, " ") }
  end

  def receive
    loop { take(@output.read_nonblock(65_536)) }
  rescue IO::WaitReadable
    nil
  rescue EOFError, Errno::EIO
    @gone = true
  end

  # A sequence or a character may come in pieces: what is not whole yet waits.
  def take(bytes)
    @log << bytes.dup.force_encoding("UTF-8")
    text = (@rest + bytes).force_encoding("UTF-8")
    whole = text[/\A(?:#{PIECE})*/o] if text.valid_encoding?
    @rest = text.valid_encoding? ? text[whole.length..].b : text.b
    whole&.scan(/#{PIECE}/o) { apply(Regexp.last_match) }
  end

  def apply(piece)
    case piece[2]
    when nil then put(piece[0])
    when "H" then @row, @column = at(piece[1])
    when "K" then @lines[@row]&.fill(" ", @column)
    when "J" then erase(piece[1])
    end
  end

  def at(numbers)
    row, column = numbers.split(";").map(&:to_i)
    [[row || 1, 1].max - 1, [column || 1, 1].max - 1]
  end

  def erase(kind)
    return @lines = blank if kind == "2"

    (@row...@rows).each { |row| @lines[row].fill(" ") }
  end

  # No wrapping at the margin: the last column is written again and again.
  def put(char)
    case char
    when "\r" then @column = 0
    when "\n" then line_feed
    else
      @lines[@row][[@column, @columns - 1].min] = char if @lines[@row]
      @column += Heapline::Terminal::DisplayWidth.of(char)
    end
  end

  def line_feed
    return @row += 1 if @row < @rows - 1

    @lines.shift
    @lines << Array.new(@columns, " ")
  end
end
