import { slugFrom } from '../../../../core/text/slug.ts'
import { useRead } from '../../api/read.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'
import { freeKey } from './entries.ts'
import { useForm } from './form-context.ts'
import { textOf } from './form-fields.tsx'

const wantedKey = (name: string) => slugFrom(name) || 'flow'

/** Has the key follow the name for as long as nobody has chosen another one. */
export function useNewKey(isKeyNew: boolean): (name: string) => void {
  const { flow, write } = useForm()
  const { data } = useRead<FlowList>(isKeyNew ? flowsPath : null)
  const keyOf = (name: string) => freeKey(wantedKey(name), data?.flows ?? [])
  const [name, key] = [textOf(flow.name), textOf(flow.key)]
  const isChosen = key !== '' && key !== wantedKey(name) && key !== keyOf(name)
  return next => {
    if (isKeyNew && !isChosen) write(['key'], keyOf(next))
  }
}
