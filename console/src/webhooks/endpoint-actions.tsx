import { NumberInput, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatNumberOf } from '../formats/amounts.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { ToCopy } from '../parts/to-copy.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { secretText } from './create-endpoint.tsx'
import { EndpointFields, endpointBody, type EndpointDraft } from './endpoint-fields.tsx'

export type Endpoint = Answer<'getWebhookEndpoint'>
type Props = { readonly endpoint: Endpoint }

/** Shows what can be done with an endpoint. */
export function EndpointActions({ endpoint }: Props): ReactElement {
  const refusal = useRefusal('webhooks')
  const isEnabled = endpoint.status === 'enabled'
  return (
    <>
      <Action label="Send a test" refusal={refusal}>
        {(dialog) => <TestForm endpoint={endpoint} {...dialog} />}
      </Action>
      <Action label="Edit" title="Edit the endpoint" refusal={refusal}>
        {(dialog) => <EditForm endpoint={endpoint} {...dialog} />}
      </Action>
      <Action
        label={isEnabled ? 'Disable' : 'Enable'}
        title={isEnabled ? 'Disable the endpoint' : 'Enable the endpoint'}
        refusal={refusal}
      >
        {(dialog) => <StatusForm endpoint={endpoint} {...dialog} />}
      </Action>
      <Action label="New secret" title="Create a new signing secret" showsSecret refusal={refusal}>
        {(dialog) => <RotateForm endpoint={endpoint} {...dialog} />}
      </Action>
      <Action label="Delete" title="Delete the endpoint" refusal={refusal}>
        {(dialog) => <DeleteForm endpoint={endpoint} {...dialog} />}
      </Action>
    </>
  )
}

function TestForm({ endpoint, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const test = hooks.useMutation('post', '/v1/ui/webhooks/{endpointId}/test')
  const { data } = test
  return (
    <ActionForm
      text="Sends one signed event of the type webhook.test to the address now, and shows the answer."
      submitLabel={data === undefined ? 'Send the test' : 'Send another'}
      closeLabel="Close"
      change={test}
      close={close}
      onSubmit={() => {
        test.mutate({ params: { path: { endpointId: endpoint.id } } })
      }}
    >
      {data !== undefined && (
        <Text size="sm" role="status">
          {data.success
            ? 'The endpoint accepted the event'
            : 'The endpoint did not accept the event'}
          : {data.status === undefined ? data.error : `status ${data.status}`}, after{' '}
          {data.durationMs} ms.
        </Text>
      )}
    </ActionForm>
  )
}

function EditForm({ endpoint, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const { id: endpointId, url, enabledEvents: events } = endpoint
  const [draft, setDraft] = useState<EndpointDraft>({ url, events })
  const change = hooks.useMutation('patch', '/v1/webhook_endpoints/{endpointId}', {
    onSuccess: () => {
      showChanged('The endpoint is changed.')
      close()
    },
  })
  return (
    <ActionForm
      text="The next attempts are sent to the new address. Its signing secrets stay the same."
      submitLabel="Save"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { endpointId } },
          body: endpointBody(draft),
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    >
      <EndpointFields draft={draft} onChange={setDraft} />
    </ActionForm>
  )
}

function StatusForm({ endpoint, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const { id: endpointId } = endpoint
  const status = endpoint.status === 'enabled' ? 'disabled' : 'enabled'
  const change = hooks.useMutation('patch', '/v1/webhook_endpoints/{endpointId}', {
    onSuccess: () => {
      showChanged(`The endpoint is ${status}.`)
      close()
    },
  })
  return (
    <ActionForm
      text={
        status === 'disabled'
          ? 'Events are held, and sent when you enable the endpoint again.'
          : 'The deliveries that were held are sent now, and the count of failures starts again.'
      }
      submitLabel={status === 'disabled' ? 'Disable the endpoint' : 'Enable the endpoint'}
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { endpointId } },
          body: { status },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    />
  )
}

/** Hours in which both secrets sign. The API allows a week. */
const overlapHoursDefault = 24
const overlapHoursMax = 168

function RotateForm({ endpoint, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const [overlapHours, setOverlapHours] = useState(overlapHoursDefault)
  const change = hooks.useMutation('post', '/v1/webhook_endpoints/{endpointId}/rotate')
  if (change.data !== undefined) return <ToCopy text={secretText} value={change.data.secret} />
  return (
    <ActionForm
      text={`The current secret keeps signing beside the new one for ${formatNumberOf(overlapHours, 'hour')}. Give your receiver the new secret within this time.`}
      submitLabel="Create the secret"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { endpointId: endpoint.id } },
          body: { overlapHours },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    >
      <NumberInput
        label="Hours with both secrets"
        min={0}
        max={overlapHoursMax}
        allowDecimal={false}
        value={overlapHours}
        onChange={(value) => {
          if (typeof value === 'number') setOverlapHours(value)
        }}
      />
    </ActionForm>
  )
}

function DeleteForm({ endpoint, close }: Props & Dialog): ReactElement {
  const { hooks, environment } = useApi()
  const navigate = useNavigate()
  const change = hooks.useMutation('delete', '/v1/webhook_endpoints/{endpointId}', {
    onSuccess: () => {
      showChanged('The endpoint is deleted.')
      close()
      void navigate({ to: '/$environment/webhooks', params: { environment } })
    },
  })
  return (
    <ActionForm
      text="Nothing is sent to the address any more, also what waits to be sent. This cannot be undone."
      submitLabel="Delete the endpoint"
      closeLabel="Keep the endpoint"
      isDangerous
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({ params: { path: { endpointId: endpoint.id } } })
      }}
    />
  )
}
