import type { Mapping, Path, Plain } from '../../../../core/flow/plain.ts'
import type { Wiring } from './frame.tsx'

/** What a form's fields are made of: tables, and what a control is given. */

/** Controls within the frame of a field. */
export type InputName =
  | 'text'
  | 'code'
  | 'long'
  | 'number'
  | 'seconds'
  | 'place'
  | 'lines'
  | 'choice'
  | 'colour'
  | 'moment'
  | 'span'
  | 'zone'
  | 'language'
  | 'page'
  | 'flow'
  | 'step'

/** Controls with a frame of their own. */
export type WholeName =
  | 'name'
  | 'key'
  | 'kind'
  | 'check'
  | 'cards'
  | 'element'
  | 'image'
  | 'priority'
  | 'rule'
  | 'snapshot'

/** One field of a form, as data. */
export interface Field {
  /** Its place in the part, such as `target.selector`. */
  at: string
  label: string
  /** A sentence for whoever asks for it. */
  help?: string
  /** A sentence that is always shown. */
  hint?: string
  /** Text, unless it is something else. */
  as?: InputName | WholeName | 'list'
  /** Whether it is shown; always, if the flow has a value for it. */
  shown?: (part: Mapping, flow: Mapping) => boolean
  /** What each choice is called. */
  names?: Readonly<Record<string, string>>
  /** What is chosen if the flow says nothing, and the schema has no default. */
  chosen?: (part: Mapping, flow: Mapping) => string
  /** The name for choosing nothing. */
  none?: string
  placeholder?: string | ((part: Mapping, flow: Mapping) => string)
  /** The mapping that goes when this is emptied. */
  clears?: string
  /** Fields that only mean something beside one of the choices, and go with it. */
  only?: Readonly<Record<string, readonly string[]>>
  /** What another field begins with beside a choice. */
  begins?: Readonly<Record<string, { at: string; value: Plain }>>
  /** For lists: the fields of a row, and what a new row has. */
  rows?: Rows
}

export interface Rows {
  fields: Group['fields']
  one: string
  add: string
  empty: string
  fresh: (list: readonly Plain[]) => Plain
  most: number
}

/** Fields that are shown together. */
export interface Group {
  title?: string
  help?: string
  /** Whether few people need it. It is closed until it is opened, or has a problem. */
  isRare?: boolean
  /** A mapping that a button adds and removes. */
  optional?: { at: string; add: string; remove: string; fresh: Plain }
  /** Fields in one list stand side by side. */
  fields: readonly (Field | readonly Field[])[]
}

export interface ControlProps {
  field: Field
  path: Path
  value: Plain | undefined
  write: (value: Plain | undefined) => void
  part: Mapping
  flow: Mapping
}

export type InputProps = ControlProps & { wiring: Wiring }
