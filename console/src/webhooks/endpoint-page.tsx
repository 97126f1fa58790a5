import { Button, Code, Group, NativeSelect, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { formatCount } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Section } from '../parts/section.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { EndpointActions, type Endpoint } from './endpoint-actions.tsx'
import { ReplayFailed } from './replay-failed.tsx'
import { deliveryStates } from './webhook-search.ts'

const route = getRouteApi('/$environment/webhooks/$endpointId')
const shownMax = 25

/** Shows one webhook endpoint with its deliveries. */
export function EndpointPage(): ReactElement {
  const { hooks } = useApi()
  const { endpointId } = route.useParams()
  const { data } = hooks.useSuspenseQuery('get', '/v1/webhook_endpoints/{endpointId}', {
    params: { path: { endpointId } },
  })
  return (
    <Stack>
      <PageHead
        title={data.url}
        text={
          <>
            <StatusBadge status={data.status} /> <Code>{data.id}</Code>
          </>
        }
        actions={<EndpointActions endpoint={data} />}
      />
      <Section title="Endpoint">
        <EndpointFacts endpoint={data} />
      </Section>
      <Section title="Deliveries" actions={<ReplayFailed endpointId={endpointId} />}>
        <Deliveries endpointId={endpointId} />
      </Section>
    </Stack>
  )
}

const disabledReasons = {
  attempts: 'All attempts of a delivery failed',
  gone: 'The endpoint answered with status 410',
  provider: 'Disabled by you',
} as const

function EndpointFacts({ endpoint }: { readonly endpoint: Endpoint }): ReactElement {
  const { enabledEvents, failureCount, failingSince, disabledReason, disabledAt } = endpoint
  return (
    <Facts
      facts={[
        { label: 'Events', value: enabledEvents.length === 0 ? 'All' : enabledEvents.join(', ') },
        { label: 'Failed attempts since a success', value: formatCount(failureCount) },
        ...(failingSince === undefined
          ? []
          : [{ label: 'Failing since', value: <Time key="failing" instant={failingSince} /> }]),
        ...(disabledReason === undefined
          ? []
          : [{ label: 'Why it is disabled', value: disabledReasons[disabledReason] }]),
        ...(disabledAt === undefined
          ? []
          : [{ label: 'Disabled', value: <Time key="disabled" instant={disabledAt} /> }]),
        {
          label: 'Signing secrets',
          value: endpoint.signingSecrets.map(({ id, expiresAt }) => (
            <div key={id}>
              <Code>{id}</Code>
              {expiresAt !== undefined && (
                <>
                  {' '}
                  until <Time instant={expiresAt} />
                </>
              )}
            </div>
          )),
        },
        { label: 'Created', value: <Time instant={endpoint.createdAt} /> },
      ]}
    />
  )
}

function Deliveries({ endpointId }: { readonly endpointId: string }): ReactElement {
  const { hooks } = useApi()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { state, before } = search
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/webhook-deliveries', {
    params: { query: { endpointId, limit: shownMax, ...search } },
  })
  const last = data.deliveries.at(-1)
  return (
    <Stack gap="xs">
      <NativeSelect
        label="State"
        maw={240}
        value={state ?? ''}
        onChange={(event) => {
          const chosen = deliveryStates.find((each) => each === event.currentTarget.value)
          void navigate({ search: chosen === undefined ? {} : { state: chosen } })
        }}
        data={[{ value: '', label: 'All' }, ...deliveryStates]}
      />
      {data.deliveries.length === 0 ? (
        <Empty title="No deliveries">
          An event is delivered within seconds after it happens. Send a test to try the endpoint: a
          test is answered in its dialog, and is no delivery.
        </Empty>
      ) : (
        <DeliveryTable deliveries={data.deliveries} />
      )}
      <Group justify="flex-end" gap="xs">
        {before !== undefined && (
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              void navigate({ search: state === undefined ? {} : { state } })
            }}
          >
            Newest
          </Button>
        )}
        {data.hasMore && last !== undefined && (
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              void navigate({ search: { ...search, before: last.id } })
            }}
          >
            Older
          </Button>
        )}
      </Group>
    </Stack>
  )
}
