import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { manual } from '../api/base.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { addressOf } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import type { PageProps } from '../shell/routes.ts'
import { Missing } from '../shell/states.tsx'
import { groups, type Section } from './sections.ts'
import { SettingsForm } from './settings-form.tsx'

const all = groups.flatMap(([, sections]) => sections)

const addressOfSection = ({ path }: Section) =>
  addressOf(path === all[0]!.path ? ['settings'] : ['settings', path])

const matches = ({ name, lead, finds = '', fields = [] }: Section, wanted: string) =>
  [name, lead, finds, ...fields.map(({ label }) => label)].some(text =>
    text.toLowerCase().includes(wanted),
  )

function Navigation({ current }: { current: Section | undefined }) {
  const typed = useSignal('')
  /** Whether a phone shows the links. */
  const isOpen = useSignal(false)
  const wanted = typed.value.trim().toLowerCase()
  const found = groups.flatMap(([group, sections]): [string, Section[]][] => {
    const fitting = sections.filter(section => matches(section, wanted))
    return fitting.length > 0 ? [[group, fitting]] : []
  })
  const links = (sections: readonly Section[]): ComponentChildren =>
    sections.map(section => (
      <a
        key={section.path}
        href={addressOfSection(section)}
        aria-current={section === current ? 'page' : undefined}
        onClick={() => (isOpen.value = false)}
      >
        {section.name}
      </a>
    ))
  return (
    <nav class="sections stack gap-2" aria-label="Settings">
      <input
        class="input"
        type="search"
        aria-label="Search settings"
        placeholder="Search settings"
        value={typed.value}
        onInput={event => (typed.value = event.currentTarget.value)}
      />
      <Button
        class="on-phone between"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {current?.name ?? 'Sections'}
        <Icon name="down" />
      </Button>
      <div class="section-groups" data-open={isOpen.value || wanted !== ''}>
        {found.map(([group, sections]) => (
          <div key={group}>
            <h2>{group}</h2>
            {links(sections)}
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="hint">No matching settings</p>}
    </nav>
  )
}

/** The settings for owners, in four groups. Each section has an address. */
export default function SettingsPage({ params }: PageProps) {
  const current = all.find(({ path }) => path === (params.section ?? all[0]!.path))
  if (!current) {
    return (
      <>
        <PageHead title="Settings" />
        <Missing />
      </>
    )
  }
  const { path, name, lead, fields, isReadOnly, Body, more } = current
  return (
    <>
      <PageHead title="Settings" part={name} />
      <div class="settings stack start gap-5">
        <Navigation current={current} />
        <section class="setting stack" key={path}>
          <h2>{name}</h2>
          <p class="lead below-4">{lead}</p>
          {fields && <SettingsForm fields={fields} isReadOnly={isReadOnly?.() ?? false} />}
          {Body && <Body />}
          {more && (
            <p class="footnote fine">
              <a href={manual(more[0])}>{more[1]}</a>
            </p>
          )}
        </section>
      </div>
    </>
  )
}
