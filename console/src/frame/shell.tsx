import { AppShell, Burger, Group, NavLink, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { spotlight } from '@mantine/spotlight'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Boundary } from '../parts/boundary.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useUser } from '../session/user.ts'
import { EnvironmentBand } from './environment-band.tsx'
import { EnvironmentSwitch } from './environment-switch.tsx'
import styles from './frame.module.css'
import { pages } from './pages.ts'
import { Palette } from './palette.tsx'
import { UserMenu } from './user-menu.tsx'

const bandPx = 22
const barPx = 52

/** Shows the environment, the navigation and the user around every page. */
export function Shell(): ReactElement {
  const { environment } = useApi()
  const { provider } = useUser()
  const [isOpen, { toggle, close }] = useDisclosure(false)
  return (
    <AppShell
      header={{ height: bandPx + barPx }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
      transitionDuration={0}
    >
      <a className={styles['skip']} href="#page">
        Skip to the content
      </a>
      <AppShell.Header>
        <EnvironmentBand environment={environment} />
        <Group className={styles['bar']} px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
            />
            <Text fw={700} truncate>
              {provider.name}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <UnstyledButton onClick={spotlight.open} visibleFrom="sm" px="xs">
              <Text size="sm" c="dimmed">
                Open… <kbd>Ctrl K</kbd>
              </Text>
            </UnstyledButton>
            <EnvironmentSwitch />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <Navigation onNavigate={close} />
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1}>
        <Boundary>
          <Outlet />
        </Boundary>
      </AppShell.Main>
      <Palette />
    </AppShell>
  )
}

function Navigation({ onNavigate }: { readonly onNavigate: () => void }): ReactElement {
  const { environment } = useApi()
  return (
    <>
      {pages.map(({ to, label }) => (
        <NavLink
          key={to}
          // Every page is below the address of Home.
          renderRoot={(props) => (
            <Link
              to={to}
              params={{ environment }}
              activeOptions={{ exact: to === '/$environment', includeSearch: false }}
              {...props}
            />
          )}
          variant="filled"
          label={label}
          onClick={onNavigate}
        />
      ))}
    </>
  )
}
