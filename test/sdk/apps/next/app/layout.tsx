import type { ReactNode } from 'react'
import { Onboarding } from '../src/Onboarding'

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <Onboarding>{children}</Onboarding>
      </body>
    </html>
  )
}
