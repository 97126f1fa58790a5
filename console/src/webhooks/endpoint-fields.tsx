import { MultiSelect, TextInput } from '@mantine/core'
import type { ReactElement } from 'react'
import type { operations } from '../api/openapi.d.ts'
import { useApi } from '../session/environment-api.tsx'

type Body = operations['createWebhookEndpoint']['requestBody']['content']['application/json']
export type EventType = NonNullable<Body['enabledEvents']>[number]

/** What a provider chooses about an endpoint. No event types are all of them. */
export type EndpointDraft = { readonly url: string; readonly events: readonly string[] }

/** Returns the draft as the API reads it. The event types come from its own list. */
export function endpointBody({ url, events }: EndpointDraft): {
  url: string
  enabledEvents: EventType[]
} {
  return { url: url.trim(), enabledEvents: events as EventType[] }
}

export function EndpointFields(props: {
  readonly draft: EndpointDraft
  readonly onChange: (draft: EndpointDraft) => void
}): ReactElement {
  const { draft, onChange } = props
  const { hooks } = useApi()
  const { data } = hooks.useSuspenseQuery('get', '/v1/sdk/webhooks/event-types', {})
  return (
    <>
      <TextInput
        label="Address"
        description="Public, and https."
        placeholder="https://example.com/webhooks"
        type="url"
        required
        value={draft.url}
        onChange={(event) => {
          onChange({ ...draft, url: event.currentTarget.value })
        }}
        data-autofocus
      />
      <MultiSelect
        label="Events"
        description="None means all, with those that are added later."
        searchable
        data={data.map(({ label, events }) => ({
          group: label,
          items: events.map(({ type }) => type),
        }))}
        value={[...draft.events]}
        onChange={(events) => {
          onChange({ ...draft, events })
        }}
      />
    </>
  )
}
