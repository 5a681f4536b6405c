/**
 * A small part of the regular expressions of JavaScript: characters, `.`, classes, groups, alternatives and
 * repetitions. Texts are compared in time by the product of the lengths of pattern and text, whatever the
 * pattern, because all ways through it are followed at once.
 */

/** What is wrong with a pattern, in one sentence with what to do. */
export class RegexProblem extends Error {}

/** Character codes from and to. */
type Range = readonly [number, number]

/** Takes one character of its ranges, or none if it has no ranges, and leads to other nodes. */
interface Node {
  takes: readonly Range[] | null
  to: number[]
}

export interface Program {
  /** Whether all of a text matches. */
  matches(text: string): boolean
  /** The same, with the number of nodes that were visited. */
  run(text: string): { matches: boolean; visits: number }
  /** The number of nodes. */
  size: number
}

type Part =
  | { takes: readonly Range[] }
  | { inOrder: Part[] }
  | { anyOf: Part[] }
  | { repeated: Part; min: number; max: number }

const maxNodes = 1_000
const maxCode = 0xffff

const rangesOf = (text: string): Range[] =>
  Array.from(text, character => [character.charCodeAt(0), character.charCodeAt(0)])

function without(ranges: readonly Range[]): Range[] {
  const rest: Range[] = []
  let from = 0
  for (const [low, high] of [...ranges].sort(([a], [b]) => a - b)) {
    if (low > from) rest.push([from, low - 1])
    from = Math.max(from, high + 1)
  }
  return from <= maxCode ? [...rest, [from, maxCode]] : rest
}

const digits: Range[] = [[48, 57]]
const letters: Range[] = [...digits, [65, 90], [95, 95], [97, 122]]
const classes: Readonly<Record<string, readonly Range[]>> = {
  d: digits,
  D: without(digits),
  w: letters,
  W: without(letters),
}
const anything = without(rangesOf('\n\r\u2028\u2029'))

/** Reads a pattern. Throws a `RegexProblem` if it is not one. */
export function readRegex(pattern: string): Program {
  return programOf(new Reader(pattern).read())
}

class Reader {
  private at = 0

  constructor(private readonly pattern: string) {}

  /** `^` first and `$` last change nothing, because all of a text has to match anyway. */
  read(): Part {
    this.skip('^')
    const part = this.alternatives()
    if (this.skip('$') && this.next === '') return part
    if (this.next === '') return part
    if (this.next === ')')
      this.fail('This ")" closes nothing: remove it, or write \\) for the character')
    this.fail('"$" may only stand at the end: write \\$ for the character')
  }

  private get next(): string {
    return this.pattern.charAt(this.at)
  }

  private skip(text: string): boolean {
    const isThere = this.pattern.startsWith(text, this.at)
    if (isThere) this.at += text.length
    return isThere
  }

  private take(): string {
    const character = this.next
    this.at++
    return character
  }

  private fail(message: string, at = this.at): never {
    throw new RegexProblem(`${message} (character ${at + 1})`)
  }

  private alternatives(): Part {
    const anyOf = [this.sequence()]
    while (this.skip('|')) anyOf.push(this.sequence())
    return anyOf.length === 1 ? anyOf[0]! : { anyOf }
  }

  private sequence(): Part {
    const inOrder: Part[] = []
    while (!['', '|', ')', '$'].includes(this.next)) inOrder.push(this.repeated(this.atom()))
    return { inOrder }
  }

  private repeated(part: Part): Part {
    const [text, min = '', comma, max = ''] =
      /^(?:[*+?]|\{(\d{1,4})(,)?(\d{1,4})?\})/.exec(this.pattern.slice(this.at)) ?? []
    if (text === undefined) {
      if (this.next === '{')
        this.fail('"{" needs numbers, as in {2} or {1,3}: write \\{ for the character')
      return part
    }
    const at = this.at
    this.at += text.length
    // Whether as much or as little as possible is taken makes no difference to all of a text.
    this.skip('?')
    if (/^[*+?{]/.test(this.next)) this.fail('Two repetitions follow each other: remove one')
    if (text === '?') return { repeated: part, min: 0, max: 1 }
    if (text === '*' || text === '+') {
      return { repeated: part, min: text === '+' ? 1 : 0, max: Infinity }
    }
    const upTo = comma === undefined ? Number(min) : max === '' ? Infinity : Number(max)
    if (upTo < Number(min)) this.fail('The second number is less than the first: swap them', at)
    return { repeated: part, min: Number(min), max: upTo }
  }

  private atom(): Part {
    const at = this.at
    const character = this.take()
    if (character === '(') return this.group(at)
    if (character === '[') return { takes: this.classOf(at) }
    if (character === '.') return { takes: anything }
    if (character === '\\') return { takes: this.escaped(at) }
    if ('*+?{'.includes(character)) {
      this.fail(`"${character}" repeats nothing: write \\${character} for the character`, at)
    }
    if (character === '^')
      this.fail('"^" may only stand at the beginning: write \\^ for the character', at)
    if (character === ']' || character === '}') {
      this.fail(`This "${character}" closes nothing: write \\${character} for the character`, at)
    }
    return { takes: rangesOf(character) }
  }

  private group(at: number): Part {
    if (!this.skip('?:') && this.next === '?') {
      const what = /^\?<?[=!]/.test(this.pattern.slice(this.at))
        ? 'Lookahead or lookbehind'
        : 'This kind of group'
      this.fail(`${what} is not supported: write a plain group, (…), or several rules`, at)
    }
    const part = this.alternatives()
    if (!this.skip(')')) {
      if (this.next === '$') this.fail('"$" may only stand at the end: write \\$ for the character')
      this.fail('This "(" is not closed: add ")", or write \\( for the character', at)
    }
    return part
  }

  private escaped(at: number): readonly Range[] {
    const character = this.take()
    const known = classes[character]
    if (known) return known
    if (/\d/.test(character)) {
      this.fail('A reference to a group is not supported: write out what it repeats', at)
    }
    if (character === '' || /\w/.test(character)) {
      this.fail(
        `"\\${character}" is not supported: only \\d, \\D, \\w, \\W and characters such as \\. are`,
        at,
      )
    }
    return rangesOf(character)
  }

  private classOf(at: number): readonly Range[] {
    const isNegated = this.skip('^')
    const ranges: Range[] = []
    while (!this.skip(']')) {
      const from = this.member(at)
      const isRange = this.next === '-' && !['', ']'].includes(this.pattern.charAt(this.at + 1))
      if (!isRange) {
        ranges.push(...from)
        continue
      }
      this.take()
      const to = this.member(at)
      if (from.length !== 1 || to.length !== 1 || from[0]![0] > to[0]![0]) {
        this.fail(
          'A range goes from a lower character to a higher one, such as a-z: correct it',
          at,
        )
      }
      ranges.push([from[0]![0], to[0]![1]])
    }
    if (ranges.length === 0) this.fail('The class is empty: add characters', at)
    return isNegated ? without(ranges) : ranges
  }

  private member(at: number): readonly Range[] {
    const character = this.take()
    if (character === '')
      this.fail('This "[" is not closed: add "]", or write \\[ for the character', at)
    return character === '\\' ? this.escaped(this.at - 1) : rangesOf(character)
  }
}

function programOf(part: Part): Program {
  /** The first is the end. */
  const nodes: Node[] = [{ takes: null, to: [] }]
  const add = (takes: Node['takes'], to: number[]) => {
    if (nodes.length >= maxNodes) {
      throw new RegexProblem('The regular expression repeats too much: use smaller numbers in {…}')
    }
    return nodes.push({ takes, to }) - 1
  }
  /** Adds a part that leads to a node. Returns where it begins. */
  const begin = (of: Part, end: number): number => {
    if ('takes' in of) return add(of.takes, [end])
    if ('inOrder' in of) return of.inOrder.reduceRight((next, one) => begin(one, next), end)
    if ('anyOf' in of)
      return add(
        null,
        of.anyOf.map(one => begin(one, end)),
      )
    const { repeated, min, max } = of
    let at = end
    if (max === Infinity) {
      at = add(null, [end])
      nodes[at]!.to.push(begin(repeated, at))
    } else for (let i = min; i < max; i++) at = add(null, [end, begin(repeated, at)])
    for (let i = 0; i < min; i++) at = begin(repeated, at)
    return at
  }
  const first = begin(part, 0)

  const run: Program['run'] = text => {
    /** At which place of the text each node was visited last. */
    const visitedAt = new Int32Array(nodes.length).fill(-1)
    let visits = 0
    const visit = (at: number, place: number, open: Node[]) => {
      if (visitedAt[at] === place) return
      visitedAt[at] = place
      visits++
      const node = nodes[at]!
      if (node.takes) open.push(node)
      else for (const next of node.to) visit(next, place, open)
    }
    let open: Node[] = []
    visit(first, 0, open)
    for (let place = 1; place <= text.length; place++) {
      const code = text.charCodeAt(place - 1)
      const next: Node[] = []
      for (const { takes, to } of open) {
        if (takes!.some(([low, high]) => code >= low && code <= high)) visit(to[0]!, place, next)
      }
      open = next
      if (open.length === 0 && visitedAt[0] !== place) return { matches: false, visits }
    }
    return { matches: visitedAt[0] === text.length, visits }
  }
  return { run, matches: text => run(text).matches, size: nodes.length }
}
