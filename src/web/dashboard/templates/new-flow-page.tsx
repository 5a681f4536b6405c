import { LinkButton } from '../parts/button.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { TemplateCards } from './cards.tsx'
import { StartDialog } from './start-dialog.tsx'
import { goals, templates } from './templates.ts'

/** Where a new flow begins: with a goal, from nothing, or from a file. */
export default function NewFlowPage() {
  const { filters, setFilters } = useFilters()
  const chosen = templates.find(({ id }) => id === filters.template)
  const blank = ['flows', 'new', 'blank']
  return (
    <>
      <PageHead
        title="New flow"
        above={<a href={addressOf(['flows'])}>Flows</a>}
        actions={
          <>
            <LinkButton href={addressOf(blank, { view: 'yaml' })}>Paste YAML</LinkButton>
            <LinkButton href={addressOf(blank)}>Start empty</LinkButton>
          </>
        }
      />
      <p class="lead below-4">
        What do you want to achieve? You get a complete draft, and change what you like.
      </p>
      {goals.map(([goal, ofGoal]) => (
        <section key={goal} class="part">
          <h2>{goal}</h2>
          <TemplateCards templates={ofGoal} />
        </section>
      ))}
      {chosen && (
        <StartDialog
          key={chosen.id}
          template={chosen}
          onClose={() => setFilters({ template: null })}
        />
      )}
    </>
  )
}
