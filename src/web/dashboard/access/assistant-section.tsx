import { useSignal } from '@preact/signals'
import type { CreatedToken } from '../../../modules/access/schema.ts'
import { useRead } from '../api/read.ts'
import { addressFor, type CodePart } from '../installation/code-for.ts'
import { CodeBlock } from '../installation/install-code.tsx'
import { type Installation, installPath } from '../installation/state.ts'
import { Code } from '../parts/code.tsx'
import { Opener } from '../parts/opener.tsx'
import { Reading } from '../shell/states.tsx'
import { NewToken, ShownToken } from './new-token.tsx'

/** What to enter in each kind of assistant. @param token a placeholder until one was created */
const clientsOf = (server: string, token: string): CodePart[] => {
  const program = {
    command: 'cairn',
    args: ['mcp', '--url', server],
    env: { CAIRN_TOKEN: token },
  }
  return [
    {
      name: 'Claude Code',
      where: 'Run this in a terminal.',
      code: `claude mcp add --transport http cairn ${server}/mcp --header "Authorization: Bearer ${token}"`,
    },
    {
      name: 'Assistants that start a program',
      where: 'Add this to the file with their MCP servers. The cairn program must be installed.',
      code: JSON.stringify({ mcpServers: { cairn: program } }, null, 2),
    },
    {
      name: 'Any other assistant',
      where: 'Enter the address above, and send this header.',
      code: `Authorization: Bearer ${token}`,
    },
  ]
}

/** Connects an assistant, such as Claude, to this organisation. */
export function AssistantSection() {
  const installation = useRead<Installation>(installPath)
  const made = useSignal<CreatedToken | null>(null)
  return (
    <Reading of={installation}>
      {data => (
        <>
          <h3>Address</h3>
          <Code name="Address">{`${addressFor(data)}/mcp`}</Code>
          <h3>Token</h3>
          <p class="hint">
            With the scopes that are preselected, an assistant can write drafts and read results. It
            cannot publish.
          </p>
          {made.value && <ShownToken token={made.value} onDone={() => (made.value = null)} />}
          <div class="row-actions">
            <Opener look="primary" label="Create token">
              {close => (
                <NewToken
                  name="Assistant"
                  scopes={['flows:read', 'flows:write', 'analytics:read']}
                  onMade={token => (made.value = token)}
                  onClose={close}
                />
              )}
            </Opener>
          </div>
          <div class="part stack gap-5">
            {clientsOf(addressFor(data), made.value?.token ?? 'TOKEN').map(client => (
              <CodeBlock key={client.name} {...client} />
            ))}
          </div>
        </>
      )}
    </Reading>
  )
}
