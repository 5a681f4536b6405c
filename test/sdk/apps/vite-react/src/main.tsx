import { CairnProvider } from '@cairn/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Onboarding } from './Onboarding'
import { OwnChecklist, OwnLauncher, OwnStep } from './Own'
import { TourButton } from './Tour'

const own = { url: 'https://cairn.example.com', key: 'YOUR_SNIPPET_KEY', headless: true }

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <h1 id="first">React</h1>
    {location.hash === '#own' ? (
      <CairnProvider options={own}>
        <OwnStep />
        <OwnChecklist />
        <OwnLauncher />
      </CairnProvider>
    ) : (
      <Onboarding>
        <TourButton />
      </Onboarding>
    )}
  </StrictMode>,
)
