import { computed, type Signal, signal } from '@preact/signals'
import { isSame, type Mapping } from '../../../../core/flow/plain.ts'
import type { DraftAnswer } from '../../../../modules/authoring/schema.ts'
import { Failure } from '../../api/failure.ts'
import { readAgain } from '../../api/read.ts'
import { ask } from '../../api/request.ts'
import { flowPath } from '../../flows/definition.ts'
import {
  type Base,
  baseOf,
  type Judged,
  judgedByServer,
  type Rejected,
  readBase,
  reasonOf,
  rejected,
  type Work,
  whyInvalid,
} from './draft.ts'
import type { Unsaved } from './unsaved.ts'

/** Someone else saved first. */
export interface Conflict {
  who: string
  theirs: Base
}

/** A flow that is being written: what its author has, what the server has, and how one becomes the other. */
export class Editing {
  readonly work: Signal<Work>
  readonly base: Signal<Base | null>
  /** What was last saved, as its author wrote it. */
  private readonly saved: Signal<Mapping>
  readonly judged: Signal<Judged | null> = signal(null)
  readonly isBusy = signal(false)
  readonly rejected: Signal<Rejected | null> = signal(null)
  readonly conflict: Signal<Conflict | null> = signal(null)
  /** Until the server has answered, nobody knows what it has, so work that is being saved is dirty too. */
  readonly isDirty = computed(() => this.isBusy.value || this.hasChanged())
  /** What was last sent, as long as nobody knows whether the server has it. */
  unanswered: Mapping | null = null
  /** The ETags of all states of the flow that this tab has seen. */
  readonly known = new Set<string>()

  /** @param base null for a new flow */
  constructor(
    base: Base | null,
    flow: Mapping,
    private readonly onSaved: (key: string) => void = () => {},
  ) {
    this.work = signal({ flow, text: null })
    this.base = signal(base)
    this.saved = signal(flow)
    if (base) this.known.add(base.etag)
  }

  private hasChanged(): boolean {
    return !isSame(this.work.value.flow, this.saved.value)
  }

  change(make: (flow: Mapping) => Mapping): void {
    const { flow } = this.work.peek()
    if (flow) this.work.value = { flow: make(flow), text: null }
  }

  /** Begins again with what the server has. */
  load(base: Base): void {
    this.hold(base)
    this.saved.value = base.flow
    this.work.value = { flow: base.flow, text: null }
    this.conflict.value = this.rejected.value = null
  }

  /** Goes on with what the server has by now, unless something is unsaved here. @throws Failure */
  async refresh(): Promise<void> {
    const base = this.base.peek()
    if (!base || this.isDirty.peek() || this.conflict.peek()) return
    const now = await readBase(String(base.flow.key))
    if (now.etag !== base.etag && !this.isDirty.peek()) this.load(now)
  }

  private hold(base: Base): void {
    this.known.add(base.etag)
    this.base.value = base
  }

  /**
   * Goes on with work that this browser has kept. If it is about an older draft, that is a conflict, unless
   * the newer one was saved from here too.
   */
  restore({ flow, text, etag, unanswered }: Unsaved): void {
    const base = this.base.peek()
    this.work.value = { flow, text }
    if (!base || base.etag === etag) return
    const isOurs = [flow, unanswered].some(sent => isSame(sent, base.flow))
    if (!isOurs) this.conflict.value = { who: 'Someone else', theirs: base }
  }

  /** Goes back to what was last saved. */
  revert(): void {
    this.work.value = { flow: this.saved.peek(), text: null }
    this.rejected.value = null
  }

  /** Has the server judge the current work. @throws Failure */
  async judge(): Promise<Judged> {
    const work = this.work.peek()
    const known = this.judged.peek()
    if (known?.of === work) return known
    const judged = await judgedByServer(work)
    if (this.work.peek() === work) this.judged.value = judged
    return judged
  }

  /** Saves the work as the draft, if it has changed. @returns whether the server has all of it */
  async save(): Promise<boolean> {
    if (this.isBusy.peek() || this.conflict.peek()) return false
    if (!this.isDirty.peek() && this.base.peek()) return true
    this.isBusy.value = true
    const work = this.work.peek()
    try {
      this.rejected.value = await this.put()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      this.rejected.value = reasonOf(error)
    } finally {
      this.isBusy.value = false
    }
    if (this.rejected.peek() || this.conflict.peek()) return false
    return this.work.peek() === work || this.save()
  }

  /** @returns why it is not saved; null if it is, or if someone else was first @throws Failure */
  private async put(): Promise<Rejected | null> {
    const { of, definition, problems } = await this.judge()
    const base = this.base.peek()
    if (!definition) {
      return rejected(whyInvalid(problems))
    }
    const { key } = definition
    if (base && key !== base.flow.key) {
      return rejected(`The key “${base.flow.key}” cannot change.`)
    }
    const unanswered = this.unanswered
    this.unanswered = of.flow
    try {
      const { value } = await ask<DraftAnswer>(flowPath(key, '/draft'), {
        method: 'PUT',
        body: definition,
        ...(base ? { ifMatch: base.etag } : { isNew: true }),
      })
      this.unanswered = null
      this.hold(baseOf(value!))
      this.saved.value = of.flow!
      readAgain()
      this.onSaved(key)
      return null
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 412) throw error
      this.unanswered = null
      if (!base) {
        return rejected(`The key “${key}” is in use. Choose another.`)
      }
      const theirs = await readBase(key)
      if (isSame(theirs.flow, unanswered)) {
        this.hold(theirs)
        this.saved.value = theirs.flow
        return this.put()
      }
      const who = String(error.response.body?.changedBy ?? 'Someone else')
      this.conflict.value = { who, theirs }
      return null
    }
  }

  /** Ends a conflict: what the author has replaces what someone else saved, or the other way round. */
  async resolve(side: 'mine' | 'theirs'): Promise<void> {
    const { theirs } = this.conflict.peek()!
    if (side === 'theirs') return this.load(theirs)
    this.hold(theirs)
    this.saved.value = theirs.flow
    this.conflict.value = null
    await this.save()
  }
}
