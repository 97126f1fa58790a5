import { Button, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import type { ReactElement } from 'react'
import { installationUrl } from '../api/addresses.ts'
import { openSignIn } from '../api/client.ts'
import { useApi } from '../session/environment-api.tsx'
import { useUser } from '../session/user.ts'

const schemes: readonly { readonly value: MantineColorScheme; readonly label: string }[] = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'As the system' },
]

/** Shows the signed-in user, and offers the colours of the console and the sign-out. */
export function UserMenu(): ReactElement {
  const { user, provider } = useUser()
  const shownName = user.name ?? user.email.split('@')[0] ?? ''
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { hooks } = useApi()
  // The browser keeps its cookies. They grant no access after the sign-out.
  const signOut = hooks.useMutation('post', '/v1/ui/auth/sign-out', { onSuccess: openSignIn })
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <Button variant="subtle" color="gray" size="xs" aria-label={`Account: ${shownName}`}>
          {shownName}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.email}, {user.role} of {provider.name}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Colours</Menu.Label>
        {schemes.map(({ value, label }) => (
          <Menu.Item
            key={value}
            aria-current={value === colorScheme}
            fw={value === colorScheme ? 700 : undefined}
            onClick={() => {
              setColorScheme(value)
            }}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component="a" href={`${installationUrl}/docs`}>
          API reference
        </Menu.Item>
        <Menu.Item
          disabled={signOut.isPending}
          onClick={() => {
            signOut.mutate({})
          }}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
