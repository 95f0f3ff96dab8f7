/** What is done to the whole entry: trace, compare, merge, delete (CO-16, CO-17). */
import { Button, Group, Menu, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate } from 'react-router'

import { useWrite } from '../../api/useWrite'
import { useOwner } from '../../app/owner'
import { comparePath, tabPath, tracePath } from '../../app/paths'
import { EntrySelect, type FoundEntry } from '../../ui/EntrySelect'
import { ReasonModal } from '../../ui/ReasonModal'
import { Told } from '../../ui/Told'
import { useOpenEntry } from './entry'
import { DELETE, MERGE } from './queries'

export function Actions() {
  const { t } = useTranslation('entry')
  const owner = useOwner()
  const { entry, mayEdit } = useOpenEntry()
  const [asking, setAsking] = useState<'delete' | 'merge'>()
  const done = () => setAsking(undefined)
  return (
    <Group gap="xs">
      <Button component={Link} to={tracePath(owner.id, entry.id)} variant="default" size="xs">
        {t('trace')}
      </Button>
      <Button component={Link} to={comparePath(owner.id, entry.id)} variant="default" size="xs">
        {t('compare')}
      </Button>
      {mayEdit && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" size="xs">
              {t('more')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setAsking('merge')}>{t('merge.open')}</Menu.Item>
            <Menu.Item onClick={() => setAsking('delete')}>{t('delete.open')}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {asking === 'delete' && <Delete onClose={done} />}
      {asking === 'merge' && <Merge onClose={done} />}
    </Group>
  )
}

function Delete({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('entry')
  const owner = useOwner()
  const navigate = useNavigate()
  const { entry, reload } = useOpenEntry()
  const write = useWrite(DELETE)
  const confirm = async (reason: string) => {
    const done = await write.run({ id: entry.id, version: entry.version, reason })
    if (done) void navigate(tabPath(owner.id, 'entries'))
    // Who tries again deletes what he then sees (CO-29).
    else reload()
  }
  return (
    <ReasonModal
      title={t('delete.title')}
      action={t('delete.action')}
      write={write}
      onClose={onClose}
      onConfirm={(reason) => void confirm(reason)}
    >
      <Text size="sm" component="div">
        <Told>{entry.name}</Told>: {t('delete.text')}
      </Text>
    </ReasonModal>
  )
}

function Merge({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('entry')
  const { entry, reload } = useOpenEntry()
  const [other, setOther] = useState<FoundEntry | null>(null)
  const [missing, setMissing] = useState(false)
  const write = useWrite(MERGE)
  const fits = (one: FoundEntry) =>
    one.id !== entry.id && one.base === entry.knowledgeBase.id && !one.readOnly
  const confirm = async (reason: string) => {
    setMissing(other === null)
    if (other === null) return
    if (await write.run({ keep: entry.id, other: other.id, reason })) {
      reload()
      onClose()
    }
  }
  return (
    <ReasonModal
      title={t('merge.title')}
      action={t('merge.action')}
      write={write}
      onClose={onClose}
      onConfirm={(reason) => void confirm(reason)}
    >
      <Stack gap="xs">
        <EntrySelect
          label={t('merge.other')}
          description={t('merge.otherHint')}
          value={other}
          onChange={setOther}
          fits={fits}
          error={missing && other === null ? t('merge.missing') : undefined}
        />
        <Text size="sm">{t('merge.text')}</Text>
      </Stack>
    </ReasonModal>
  )
}
