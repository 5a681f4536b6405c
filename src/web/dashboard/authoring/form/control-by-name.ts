import type { ComponentType } from 'preact'
import { Cards, Check } from './choices.tsx'
import * as plain from './controls.tsx'
import { ElementField, SnapshotField } from './element.tsx'
import { KeyField, KindField, NameField } from './identity.tsx'
import { ImageField } from './image.tsx'
import { FlowSelect, LanguageSelect, PageInput, StepSelect, ZoneSelect } from './pickers.tsx'
import { PriorityField } from './priority.tsx'
import { RuleField } from './rules.tsx'
import type { ControlProps, InputName, InputProps, WholeName } from './table.ts'
import { Colour, Moment, Span } from './value-controls.tsx'

/** The control of each name that a table may use. */

const secondMs = 1_000

export const inputs: Readonly<Record<InputName, ComponentType<InputProps>>> = {
  text: plain.Text,
  code: plain.Code,
  long: plain.Long,
  number: plain.number(),
  seconds: plain.number(secondMs),
  // People count from one.
  place: plain.number(1, 1),
  lines: plain.Lines,
  choice: plain.Choice,
  colour: Colour,
  moment: Moment,
  span: Span,
  zone: ZoneSelect,
  language: LanguageSelect,
  page: PageInput,
  flow: FlowSelect,
  step: StepSelect,
}

export const wholes: Readonly<Record<WholeName, ComponentType<ControlProps>>> = {
  check: Check,
  cards: Cards,
  name: NameField,
  key: KeyField,
  kind: KindField,
  element: ElementField,
  snapshot: SnapshotField,
  image: ImageField,
  priority: PriorityField,
  rule: RuleField,
}
