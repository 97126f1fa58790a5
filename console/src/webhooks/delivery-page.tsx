import { Accordion, Code, Group, Stack, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatNumberOf } from '../formats/amounts.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { Section } from '../parts/section.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { resultText } from './result-text.ts'

const route = getRouteApi('/$environment/deliveries/$deliveryId')

type Delivery = Answer<'getWebhookDelivery'>
type Props = { readonly delivery: Delivery }

/** Shows one delivery: its event and every attempt with the answer. */
export function DeliveryPage(): ReactElement {
  const { hooks, environment } = useApi()
  const { deliveryId } = route.useParams()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/webhook-deliveries/{deliveryId}', {
    params: { path: { deliveryId } },
  })
  return (
    <Stack>
      <PageHead
        title={data.type}
        text={
          <>
            <StatusBadge status={data.state} /> <Code>{data.id}</Code>
          </>
        }
        actions={<Replay delivery={data} />}
      />
      <Section title="Delivery">
        <Facts
          facts={[
            {
              label: 'Endpoint',
              value: (
                <PageLink
                  to="/$environment/webhooks/$endpointId"
                  params={{ environment, endpointId: data.endpointId }}
                >
                  {data.endpointId}
                </PageLink>
              ),
            },
            { label: 'Created', value: <Time instant={data.createdAt} /> },
            ...(data.dueAt === undefined
              ? []
              : [{ label: 'Next attempt', value: <Time key="due" instant={data.dueAt} /> }]),
            ...(data.finishedAt === undefined
              ? []
              : [{ label: 'Finished', value: <Time key="end" instant={data.finishedAt} /> }]),
            ...(data.replayId === undefined
              ? []
              : [
                  {
                    label: 'Created by the replay',
                    value: <Code key="replay">{data.replayId}</Code>,
                  },
                ]),
          ]}
        />
      </Section>
      <Section title="Attempts">
        <Attempts delivery={data} />
      </Section>
      <Section title="Event">
        <SentEvent eventId={data.eventId} />
      </Section>
    </Stack>
  )
}

function Attempts({ delivery }: Props): ReactElement {
  if (delivery.attempts.length === 0) {
    return <Empty title="No attempt yet">The event is sent when the delivery is due.</Empty>
  }
  return (
    <Accordion multiple variant="separated" chevronPosition="left" order={3}>
      {delivery.attempts.map((attempt) => (
        <Accordion.Item key={attempt.startedAt} value={attempt.startedAt}>
          <Accordion.Control>
            <Group justify="space-between">
              <Text size="sm">
                Attempt {attempt.number}
                {attempt.isReversed ? ', signatures reversed' : ''}: {resultText(attempt)}
              </Text>
              <Text size="sm">
                <Time instant={attempt.startedAt} />,{' '}
                {formatNumberOf(attempt.durationMs, 'ms', 'ms')}
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack gap="xs">
              <Text size="sm">
                {attempt.address === undefined ? '' : `Sent to ${attempt.address}. `}
                The beginning of the answer:
              </Text>
              <Body text={attempt.answer ?? ''} />
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}

/** Shows the event that the delivery sends. */
function SentEvent({ eventId }: { readonly eventId: string }): ReactElement {
  const { hooks } = useApi()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/events/{eventId}', {
    params: { path: { eventId } },
  })
  return <Body text={JSON.stringify(data, null, 2)} />
}

function Body({ text }: { readonly text: string }): ReactElement {
  return (
    <Code block tabIndex={0} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
      {text === '' ? 'Empty' : text}
    </Code>
  )
}

function Replay({ delivery }: Props): ReactElement {
  const refusal = useRefusal('webhooks')
  const isWaiting = delivery.state === 'pending' || delivery.state === 'held'
  return (
    <Action
      label="Replay"
      title="Send the event again"
      refusal={isWaiting ? 'The delivery is not finished yet.' : refusal}
    >
      {(dialog) => <ReplayForm delivery={delivery} {...dialog} />}
    </Action>
  )
}

function ReplayForm({ delivery, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks, environment } = useApi()
  const navigate = route.useNavigate()
  const change = hooks.useMutation('post', '/v1/ui/webhook-deliveries/{deliveryId}/replay', {
    onSuccess: ({ id }) => {
      showChanged('The event is sent again.')
      close()
      void navigate({
        to: '/$environment/deliveries/$deliveryId',
        params: { environment, deliveryId: id },
      })
    },
  })
  return (
    <ActionForm
      text="The endpoint gets the event once more, with a new delivery id. A receiver that compares event ids can tell that it has it already."
      submitLabel="Send it again"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { deliveryId: delivery.id } },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    />
  )
}
