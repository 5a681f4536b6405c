import { analyticsWords as words } from '../words/analytics.ts'

/** Every definition at once, for who wants to read, and on paper. */
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
