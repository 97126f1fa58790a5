import { Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { shownTimeZone } from '../formats/times.ts'
import { PageHead } from '../parts/page-head.tsx'
import { Section } from '../parts/section.tsx'
import { useApi } from '../session/environment-api.tsx'
import { Attention } from './attention.tsx'
import { ByDay } from './by-day.tsx'
import { FirstSteps } from './first-steps.tsx'
import { NumberTiles } from './number-tiles.tsx'

const route = getRouteApi('/$environment/')

/** Home is read again while it is open, so that a display on a wall stays current. */
const refetchMs = 60_000

/** Shows today, the last 30 days, and what needs attention. */
export function HomePage(): ReactElement {
  const { hooks } = useApi()
  const { number = 'events' } = route.useSearch()
  const query = { timeZone: shownTimeZone }
  const { data } = hooks.useSuspenseQuery(
    'get',
    '/v1/ui/overview',
    { params: { query } },
    { refetchInterval: refetchMs },
  )
  return (
    <Stack>
      <PageHead
        title="Home"
        text={`Today and the last 30 days. Days are those of ${data.timeZone}.`}
      />
      <FirstSteps overview={data} />
      <NumberTiles overview={data} />
      <Section title="Needs attention">
        <Attention overview={data} />
      </Section>
      <Section title="By day">
        <ByDay overview={data} number={number} />
      </Section>
    </Stack>
  )
}
