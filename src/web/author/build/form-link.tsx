import { words } from './words.ts'

/**
 * Opens the form of the flow in the dashboard, where what the builder does not change is changed.
 *
 * @param form the address of the form
 * @param step the key of the step to show in it
 */
export const FormLink = ({
  form,
  step,
  label = words.openForm,
}: {
  form: string
  step?: string
  label?: string
}) => (
  <a
    class="plain"
    href={step === undefined ? form : `${form}?part=${encodeURIComponent(step)}`}
    target="_blank"
    rel="noopener noreferrer"
  >
    {label}
  </a>
)
