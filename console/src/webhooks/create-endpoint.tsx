import { useState, type ReactElement } from 'react'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { ToCopy } from '../parts/to-copy.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { EndpointFields, endpointBody, type EndpointDraft } from './endpoint-fields.tsx'

export const secretText =
  'This is the only time that the signing secret is shown. Store it where only your receiver reads it.'

export function CreateEndpoint(): ReactElement {
  return (
    <Action label="Add an endpoint" showsSecret refusal={useRefusal('webhooks')}>
      {(dialog) => <CreateForm {...dialog} />}
    </Action>
  )
}

function CreateForm({ idempotencyKey, close }: Dialog): ReactElement {
  const { hooks } = useApi()
  const [draft, setDraft] = useState<EndpointDraft>({ url: '', events: [] })
  const change = hooks.useMutation('post', '/v1/webhook_endpoints')
  if (change.data !== undefined) return <ToCopy text={secretText} value={change.data.secret} />
  return (
    <ActionForm
      text="Events are sent to this address from now on. Verify their signatures with the secret that is shown next."
      submitLabel="Add the endpoint"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          body: endpointBody(draft),
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    >
      <EndpointFields draft={draft} onChange={setDraft} />
    </ActionForm>
  )
}
