import _ from 'lodash';

const orders = [
  { id: 1, customer: 'Ada', item: 'rivets', weight: 120 },
  { id: 2, customer: 'Grace', item: 'cable', weight: 310 },
  { id: 3, customer: 'Ada', item: 'hooks', weight: 95 },
  { id: 4, customer: 'Katherine', item: 'beams', weight: 860 },
  { id: 5, customer: 'Grace', item: 'pulleys', weight: 140 },
];

console.log(`lodash ${_.VERSION}`);
console.log(
  'weight by customer',
  _(orders)
    .groupBy('customer')
    .mapValues((all) => _.sumBy(all, 'weight'))
    .value(),
);
console.log('heaviest', _.maxBy(orders, 'weight'));
console.log('in crates of two', _.chunk(_.map(orders, 'item'), 2));
console.log('a title', _.startCase('no_server_built-this page'));
