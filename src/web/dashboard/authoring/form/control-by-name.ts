import type { ComponentType } from 'preact'
import * as choices from './choices.tsx'
import * as plain from './controls.tsx'
import { ElementField, SnapshotField } from './element.tsx'
import { KeyField, KindField, NameField } from './identity.tsx'
import { ImageField } from './image.tsx'
import { FlowPicker, PagePicker, StepPicker } from './pickers.tsx'
import { PriorityField } from './priority.tsx'
import { RuleField } from './rules.tsx'
import { SegmentField } from './segment.tsx'
import type { ControlName, ControlProps } from './table.ts'

/** The control of each name that a table may use. */
export const controls: Readonly<Record<ControlName, ComponentType<ControlProps>>> = {
  text: plain.Text,
  code: plain.Code,
  long: plain.Long,
  number: plain.Whole,
  seconds: plain.Seconds,
  place: plain.Place,
  lines: plain.Lines,
  choice: choices.OneOf,
  cards: choices.Cards,
  check: choices.YesOrNo,
  colour: plain.Colour,
  moment: plain.Moment,
  span: plain.Span,
  zone: plain.Zone,
  language: plain.Language,
  page: PagePicker,
  flow: FlowPicker,
  step: StepPicker,
  name: NameField,
  key: KeyField,
  kind: KindField,
  element: ElementField,
  snapshot: SnapshotField,
  image: ImageField,
  priority: PriorityField,
  rule: RuleField,
  segment: SegmentField,
}
