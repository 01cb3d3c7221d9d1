// Furnishes a work folder with a file of a megabyte, and says how that went: for a disk that has no room.
import { furnish } from './workfolder.ts'

const [root = ''] = process.argv.slice(2)
try {
  await furnish({
    root,
    uid: '42180608-1506-4965-b46d-0ba23170ca4b',
    inputs: {
      files: { 'main.tf': 'x'.repeat(2 ** 20) },
      env: {},
      varArgs: [],
      hasBackendFile: false,
      usesPluginCache: false,
      isLogged: false,
      secrets: [],
    },
    said: {},
    workspace: 'w',
    cli: 'tofu 1',
    pluginCache: '',
    given: {},
    ours: {},
    load: async () => Promise.reject(new Error('there is nothing to load')),
  })
  console.log('furnished')
} catch (error) {
  console.log(String(error))
}
