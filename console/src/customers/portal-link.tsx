import type { ReactElement } from 'react'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { ToCopy } from '../parts/to-copy.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'

type Props = { readonly customerRef: string }

export function PortalLink({ customerRef }: Props): ReactElement {
  return (
    <Action label="Portal link" refusal={useRefusal('manage')}>
      {(dialog) => <LinkForm customerRef={customerRef} {...dialog} />}
    </Action>
  )
}

function LinkForm({ customerRef, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const change = hooks.useMutation('post', '/v1/sdk/customers/customer-sessions')
  if (change.data !== undefined) {
    return (
      <ToCopy
        text="Send this link only to the customer. Anyone who opens it sees invoices and can cancel plans."
        value={change.data.customerUrl}
      />
    )
  }
  return (
    <ActionForm
      text="Creates a link to the customer's portal. A person who opens it acts as the customer."
      submitLabel="Create the link"
      change={change}
      close={close}
      onSubmit={() => {
        const headers = { 'Idempotency-Key': idempotencyKey }
        change.mutate({ body: { customerRef }, headers })
      }}
    />
  )
}
