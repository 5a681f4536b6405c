import { useSignal } from '@preact/signals'
import type { Static } from '@sinclair/typebox'
import { useEffect, useId } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { People } from '../../../modules/people/schema.ts'
import { useOnce } from '../api/once.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
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

const maxShown = 12
const maxPeople = 5

/** After a pause in typing of this length, people are looked for. */
const pauseMs = 250

/** The pages, flows and sections of the settings, and the people whose id has what was typed. */
function useTargets(typed: string): Target[] {
  const { data } = useRead<FlowList>(flowsPath, 60_000)
  const wanted = useSignal('')
  useEffect(() => {
    const timer = setTimeout(() => (wanted.value = typed.trim()), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  const isPerson = may('people:read') && wanted.value.length > 1
  const people = useRead<Static<typeof People>>(
    isPerson
      ? `/manage/people?limit=${maxPeople}&search=${encodeURIComponent(wanted.value)}`
      : null,
    60_000,
  )
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
    hint: 'Flow',
    icon: 'flows' as const,
    address: addressOf(['flows', key]),
  }))
  const mayChange = may('settings:write')
  const settings = useOnce(`settings ${mayChange}`, async () =>
    mayChange ? (await import('../organisations/sections.ts')).groups : [],
  )
  const sections = (settings.value ?? []).flatMap(([, of]) =>
    of.map(({ name, path }) => ({
      name,
      hint: 'Settings',
      icon: 'settings' as const,
      address: addressOf(['settings', path]),
    })),
  )
  const persons = (isPerson ? (people.data?.people ?? []) : []).map(
    ({ userId: user, anonymousId: anonymous }) => ({
      name: user ?? anonymous ?? '',
      hint: user ? 'Person' : 'Anonymous person',
      icon: 'person' as const,
      address: addressOf(['people'], { user, anonymous }),
    }),
  )
  return [...pages, ...flows, ...sections, ...persons]
}

/** A list filtered by typing. Arrows choose, Enter goes there (ARIA's combobox pattern). */
export function Jump() {
  const { route } = useLocation()
  const id = useId()
  const typed = useSignal('')
  const chosen = useSignal(0)
  const parts = typed.value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = useTargets(typed.value)
    .filter(({ name, hint }) => parts.every(part => `${name} ${hint}`.toLowerCase().includes(part)))
    .slice(0, maxShown)
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
  const what = may('people:read') ? 'Search pages, flows and people' : 'Search pages and flows'
  return (
    <Dialog title={what} class="jump" onClose={close}>
      <input
        class="input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${chosen.value}` : undefined}
        aria-label={what}
        placeholder={what}
        autocomplete="off"
        autofocus
        value={typed.value}
        onInput={event => {
          typed.value = event.currentTarget.value
          chosen.value = 0
        }}
        onKeyDown={onKeyDown}
      />
      <div class="options" role="listbox" id={`${id}-list`} aria-label={what}>
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
            <span class="row">
              <Icon name={target.icon} />
              {target.name}
            </span>
            <small>{target.hint}</small>
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {found.length === 0 && 'No matches'}
      </p>
    </Dialog>
  )
}
