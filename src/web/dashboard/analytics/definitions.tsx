import { analyticsWords as words } from '../words/analytics.ts'

/** All definitions at once, for readers who want them and for print. */
export const Definitions = ({ of }: { of: Readonly<Record<string, string>> }) => (
  <details class="definitions">
    <summary>{words.definitions}</summary>
    <dl>
      {Object.entries(of).map(([name, meaning]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  </details>
)
