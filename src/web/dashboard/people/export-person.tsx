import { useSignal } from '@preact/signals'
import { Failure } from '../api/failure.ts'
import { download } from '../api/request.ts'
import { Button } from '../parts/button.tsx'
import { saveFile } from '../parts/save-file.ts'
import { say } from '../parts/toast.tsx'
import { type Person, personPath } from './person.ts'

/** Downloads everything that is stored about a person. */
export function ExportPerson({ person }: { person: Person }) {
  const isBusy = useSignal(false)
  const problem = useSignal('')
  const run = async () => {
    isBusy.value = true
    problem.value = ''
    try {
      saveFile(await download(personPath(person, '/export')), 'person.json')
      say('Data downloaded.')
    } catch (error) {
      const status = error instanceof Failure ? error.status : 0
      problem.value = status === 404 ? 'No data for this person' : 'The export failed. Try again.'
    }
    isBusy.value = false
  }
  return (
    <>
      <Button icon="download" isBusy={isBusy.value} onClick={run}>
        {isBusy.value ? 'Exporting' : 'Export'}
      </Button>
      <span class="problem" role="alert">
        {problem.value}
      </span>
    </>
  )
}
