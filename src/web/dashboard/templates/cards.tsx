import { addressOf } from '../shell/address.ts'
import { Picture } from './picture.tsx'
import type { Template } from './templates.ts'

/** Templates to choose from. Each leads to its preview and its name. */
export const TemplateCards = ({ templates }: { templates: readonly Template[] }) => (
  <ul class="grid templates">
    {templates.map(({ id, goal, why, picture }) => (
      <li key={id}>
        <a class="template stack gap-1 framed" href={addressOf(['flows', 'new'], { template: id })}>
          <Picture name={picture} />
          <strong>{goal}</strong>
          <span class="hint">{why}</span>
        </a>
      </li>
    ))}
  </ul>
)
