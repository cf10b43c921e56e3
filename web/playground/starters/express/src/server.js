import cors from 'cors';
import express from 'express';
import { z } from 'zod';

const Order = z.object({ item: z.string().min(1), quantity: z.number().int().positive().max(50) });

const orders = [{ id: 1, item: 'rivets', quantity: 40 }];

const app = express();
app.use(cors());
app.use(express.json());

app.get('/', (_request, response) => {
  response.json({ service: 'orders', routes: ['GET /orders', 'GET /orders/:id', 'POST /orders'] });
});

app.get('/orders', (_request, response) => {
  response.json(orders);
});

app.get('/orders/:id', (request, response) => {
  const order = orders.find(({ id }) => id === Number(request.params.id));
  if (order) response.json(order);
  else response.status(404).json({ error: `There is no order ${request.params.id}` });
});

app.post('/orders', (request, response) => {
  const parsed = Order.safeParse(request.body);
  if (!parsed.success) {
    response.status(400).json({
      error: 'Not an order',
      issues: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
    });
    return;
  }
  const order = { id: orders.length + 1, ...parsed.data };
  orders.push(order);
  response.status(201).location(`/orders/${order.id}`).json(order);
});

app.listen(3000, () => console.log('Listening on port 3000'));
