import type { ReactElement } from 'react'
import { fieldsOf, type Continuation } from './continuation.ts'

/** Hidden fields of a form that remember with what the user continues after the sign-in. */
export function ContinuationFields(props: { readonly of: Continuation }): ReactElement {
  return (
    <>
      {Object.entries(fieldsOf(props.of)).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  )
}
