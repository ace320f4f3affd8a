import { afterAll, beforeAll, describe } from 'vitest';
import { connectorPython } from '../connectors/dlt-connector.ts';
import { itStaysEqual } from '../connectors/restatements-and-kills.ts';
import { type Scene, startScene } from '../connectors/scene.ts';

const python = (await connectorPython()) ?? '';

let scene: Scene;

describe.skipIf(!python)('connectors/dlt', () => {
  beforeAll(async () => {
    scene = await startScene(python, 900);
  });
  afterAll(() => scene.close());

  itStaysEqual(python, () => scene, { restatements: 200, kills: 20 });
});
