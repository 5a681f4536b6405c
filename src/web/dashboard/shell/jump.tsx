import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useRead } from '../api/read.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { shellWords as words } from '../words/shell.ts'
import { addressOf } from './address.ts'
import { opened } from './keyboard.ts'
import { addressOfPage, isOffered } from './offered.ts'
import { routes } from './routes.ts'

interface Target {
  name: string
  hint: string
  icon: IconName
  address: string
}

const most = 12

/** The places to jump to: every page and every flow. */
function useTargets(): Target[] {
  const { data } = useRead<FlowList>(flowsPath, 60_000)
  const pages = routes
    .filter(route => route.nav && isOffered(route))
    .map(route => ({
      name: route.name,
      hint: '',
      icon: route.nav!.icon,
      address: addressOfPage(route),
    }))
  const flows = (data?.flows ?? []).map(({ key, name }) => ({
    name,
    hint: key,
    icon: 'flows' as const,
    address: addressOf(['flows', key]),
  }))
  return [...pages, ...flows]
}

/** A list filtered by typing. Arrows choose, Enter goes there (ARIA's combobox pattern). */
export function Jump() {
  const { route } = useLocation()
  const id = useId()
  const typed = useSignal('')
  const chosen = useSignal(0)
  const words_ = typed.value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = useTargets()
    .filter(({ name, hint }) =>
      words_.every(word => `${name} ${hint}`.toLowerCase().includes(word)),
    )
    .slice(0, most)
  const close = () => (opened.value = null)
  const go = (target: Target | undefined) => {
    if (!target) return
    close()
    route(target.address)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && found.length > 0) chosen.value = (chosen.value + step + found.length) % found.length
    else if (event.key === 'Enter') go(found[chosen.value])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={words.jumpTo} class="jump" onClose={close}>
      <input
        class="input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${chosen.value}` : undefined}
        aria-label={words.jumpTo}
        placeholder={words.jump}
        autocomplete="off"
        autofocus
        value={typed.value}
        onInput={event => {
          typed.value = event.currentTarget.value
          chosen.value = 0
        }}
        onKeyDown={onKeyDown}
      />
      <div class="jump-list" role="listbox" id={`${id}-list`} aria-label={words.jumpTo}>
        {found.map((target, i) => (
          <div
            key={target.address}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen.value}
            onMouseMove={() => (chosen.value = i)}
            tabIndex={-1}
            onPointerUp={event => event.button === 0 && go(target)}
          >
            <Icon name={target.icon} />
            <span>{target.name}</span>
            <span class="hint">{target.hint}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="hint">{words.jumpNothing}</p>}
    </Dialog>
  )
}
