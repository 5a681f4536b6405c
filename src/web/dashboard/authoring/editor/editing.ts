import { computed, type Signal, signal } from '@preact/signals'
import type { Flow, FlowDefinition } from '../../../../core/flow/flow.ts'
import type { DraftAnswer, Validated } from '../../../../modules/authoring/schema.ts'
import { Failure } from '../../api/failure.ts'
import { readAgain } from '../../api/read.ts'
import { ask } from '../../api/request.ts'
import { flowPath } from '../../flows/definition.ts'
import { editorWords as words } from '../../words/editor.ts'
import { formatAge } from '../../words/time.ts'
import { baseOf, readBase } from './base.ts'
import { type Merged, mergeFlows, type Side, type Unit, type Written } from './merge.ts'
import { mergedText } from './merge-text.ts'
import type { FlowProblem } from './parts.ts'
import type { Base } from './unsaved.ts'

/** The server's judgement of a text. */
export interface Judged {
  text: string
  problems: readonly FlowProblem[]
  /** The one flow in the text, if nothing is wrong with it: to be saved. */
  definition: FlowDefinition | null
  /** What pages would get of it. */
  flow: Flow | null
}

/** Somebody else saved first, and both changed the same thing. */
export interface Clash {
  who: string
  when: string
  theirs: Base
  mine: { text: string; written: Written }
  merged: Merged
}

/** How many times a save is tried, merging what others have saved meanwhile, before it gives up. */
const maxTries = 3

const nameOf = ({ kind, name }: Unit) => words.unit[kind](name)

/** A flow that is being written: its text, the server's judgement of it, and how it is saved. */
export class Editing {
  readonly text: Signal<string>
  readonly base: Signal<Base | null>
  private readonly savedText: Signal<string>
  readonly judged: Signal<Judged | null> = signal(null)
  readonly isBusy = signal(false)
  /** The outcome of the last save. */
  readonly said = signal<string | null>(null)
  /** Why the last save was refused. */
  readonly refused = signal<string | null>(null)
  readonly clash = signal<Clash | null>(null)
  readonly isDirty = computed(() => this.text.value !== this.savedText.value)
  /** The ETags of all states of the flow that this tab has seen. */
  readonly known = new Set<string>()

  /** @param key null for a new flow */
  constructor(
    readonly key: string | null,
    base: Base | null,
    text: string,
    private readonly onSaved: (key: string) => void,
  ) {
    this.text = signal(text)
    this.base = signal(base)
    this.savedText = signal(base?.text ?? text)
    if (base) this.known.add(base.etag)
  }

  /** Starts again with what the server has. */
  load(base: Base): void {
    this.hold(base)
    this.text.value = base.text
    this.savedText.value = base.text
  }

  /** Continues with work that was not saved. */
  goOn({ text, base }: { text: string; base: Base | null }): void {
    if (base) this.hold(base)
    this.text.value = text
  }

  private hold(base: Base): void {
    this.known.add(base.etag)
    this.base.value = base
  }

  /** Has the server judge the current text. @throws Failure */
  async judge(): Promise<Judged> {
    const text = this.text.peek()
    const known = this.judged.peek()
    if (known?.text === text) return known
    const body = { text, normalised: true }
    const { value } = await ask<Validated>('/manage/validate', { method: 'POST', body })
    const { problems, definitions = [], normalised = [], valid } = value!
    const isOne = valid && definitions.length === 1
    const judged: Judged = {
      text,
      problems: problems as FlowProblem[],
      definition: isOne ? definitions[0]! : null,
      flow: isOne ? normalised[0]! : null,
    }
    if (this.text.peek() === text) this.judged.value = judged
    return judged
  }

  /** Saves the text as the draft, after merging in what others have saved meanwhile. */
  async save(): Promise<void> {
    if (this.isBusy.peek()) return
    this.isBusy.value = true
    this.said.value = null
    this.refused.value = null
    try {
      await this.trySaving(null)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      this.refused.value = this.inWords(error)
    } finally {
      this.isBusy.value = false
    }
  }

  private inWords({ status, isPassing, message }: Failure): string {
    if (status === 401) return words.signedOut
    return isPassing ? words.away : `${words.refused}: ${message}`
  }

  private async trySaving(taken: string | null, tries = 1): Promise<void> {
    const judged = await this.judge()
    const { definition, text } = judged
    const errors = judged.problems.filter(({ severity }) => severity === 'error').length
    if (!definition) {
      this.refused.value = errors > 0 ? words.mend(errors) : words.notOne
      return
    }
    if (this.key !== null && definition.key !== this.key) {
      this.refused.value = words.otherKey(this.key)
      return
    }
    const base = this.base.peek()
    try {
      const { value } = await ask<DraftAnswer>(flowPath(definition.key, '/draft?text=1'), {
        method: 'PUT',
        body: definition,
        ...(base ? { ifMatch: base.etag } : { isNew: true }),
      })
      this.hold(baseOf(value!))
      this.savedText.value = text
      const isDraft = value!.state === 'draft'
      this.said.value = taken ?? (isDraft ? words.saved : words.savedAsPublished)
      readAgain()
      this.onSaved(definition.key)
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 412 || tries === maxTries) throw error
      if (!base) {
        this.refused.value = words.keyTaken(definition.key)
        return
      }
      await this.merge(error, base, { text, written: definition }, tries)
    }
  }

  /** Takes over what only they changed, and asks about what both changed. @throws Failure */
  private async merge({ told }: Failure, base: Base, mine: Clash['mine'], tries: number) {
    const { changedBy, changedAt } = (told.body ?? {}) as Record<string, string | null>
    const who = changedBy ?? words.somebody
    const when = changedAt ? formatAge(changedAt) : words.meanwhile
    const theirs = await readBase(this.key!)
    // Anything typed since then has to be saved as well.
    if (this.text.peek() !== mine.text) return this.trySaving(null, tries + 1)
    const merged = mergeFlows(base.definition, mine.written, theirs.definition)
    if (merged.conflicts.length > 0) {
      this.clash.value = { who, when, theirs, mine, merged }
      return
    }
    this.take(theirs, mine.text, merged)
    const what = merged.taken.map(nameOf).join(', ')
    await this.trySaving(what === '' ? null : words.savedWith(who, when, what), tries + 1)
  }

  private take(theirs: Base, mine: string, merged: Merged): void {
    this.text.value = mergedText(mine, theirs.text, merged)
    this.hold(theirs)
  }

  /** Merges as the author has chosen, and saves that. */
  async resolve(choices: Readonly<Record<string, Side>>): Promise<void> {
    const { theirs, mine } = this.clash.peek()!
    const before = this.base.peek()!
    const merged = mergeFlows(before.definition, mine.written, theirs.definition, choices)
    this.take(theirs, mine.text, merged)
    this.clash.value = null
    await this.save()
  }
}
