import { Anchor, List, Paper, Title } from '@mantine/core'
import type { ReactElement } from 'react'
import { installationUrl } from '../api/addresses.ts'
import { PageLink } from '../parts/page-link.tsx'
import { useApi } from '../session/environment-api.tsx'
import type { Overview } from './overview.ts'

/** Shows what to do first, until there is a product and a customer. */
export function FirstSteps({ overview }: { readonly overview: Overview }): ReactElement | null {
  const { environment } = useApi()
  const params = { environment }
  if (overview.products > 0 && overview.customers > 0) return null
  return (
    <Paper component="section" aria-labelledby="first-steps" withBorder p="md" radius="md">
      <Title order={2} size="h4" id="first-steps" mb="xs">
        First steps in {environment}
      </Title>
      <List type="ordered" size="sm">
        <List.Item>
          <PageLink underline="always" to="/$environment/products" params={params}>
            Create a product
          </PageLink>{' '}
          with a plan.
        </List.Item>
        <List.Item>
          <PageLink underline="always" to="/$environment/keys" params={params}>
            Create an API key
          </PageLink>{' '}
          for your program.
        </List.Item>
        <List.Item>
          Record usage of a customer with the key: the{' '}
          <Anchor size="sm" underline="always" href={`${installationUrl}/docs`}>
            API reference
          </Anchor>{' '}
          has the requests.
        </List.Item>
      </List>
    </Paper>
  )
}
