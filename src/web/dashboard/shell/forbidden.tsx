import { PageHead } from './page-head.tsx'
import type { PageRoute } from './routes.ts'
import { Home, Notice } from './states.tsx'

/** Shown in place of a page that the signed-in person is not offered: says why, and who can help. */
export function Forbidden({ route: { name, needs } }: { route: PageRoute }) {
  const isOperators = needs === 'operator'
  return (
    <>
      <PageHead title={name} />
      <Notice
        icon="key"
        title={isOperators ? 'Only for operators' : 'No access'}
        isAlert
        actions={<Home />}
      >
        {isOperators ? (
          <>
            On the server, create a link that signs in as an operator:{' '}
            <code>cairn dashboard link --role operator</code>
          </>
        ) : (
          'Ask an owner of the organisation for a role that can see this page.'
        )}
      </Notice>
    </>
  )
}
