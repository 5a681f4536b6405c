// A server component may import the package: what it exports are client components.
import { CairnProvider } from '@cairn/react'
import { TourButton } from '../src/Tour'

export default function Page() {
  return (
    <main>
      <h1 id="first">Next, with a provider that is a {typeof CairnProvider}</h1>
      <TourButton />
    </main>
  )
}
