import { SegmentedControl } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { useApi } from '../session/environment-api.tsx'
import { useUser } from '../session/user.ts'

/**
 * Switches between sandbox and live. The other environment has other customers, products and invoices, so the switch opens its
 * first page.
 */
export function EnvironmentSwitch(): ReactElement {
  const { environment } = useApi()
  const { isLive } = useUser().provider
  const navigate = useNavigate()
  return (
    <SegmentedControl
      size="xs"
      aria-label="Environment"
      value={environment}
      onChange={(value) => {
        void navigate({ to: '/$environment', params: { environment: value } })
      }}
      data={[
        { value: 'sandbox', label: 'Sandbox' },
        { value: 'live', label: 'Live', disabled: !isLive },
      ]}
    />
  )
}
